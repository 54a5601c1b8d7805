// A process that does one workload of one part and prints what came of it as JSON: `node child.js <part> <spec>`.
import { parts } from './parts/index.js';

const [name, spec] = process.argv.slice(2);
const result = await parts[name].workload(JSON.parse(spec));
process.stdout.write(JSON.stringify(result), () => process.exit(0));
