// Starts the payment provider that definitions/order-fulfilment.yaml charges, for trying the flow out.
//
//     node scripts/payment-simulator.js                    on port 8085
//     node scripts/payment-simulator.js --port 9000 --file out/payments.jsonl
//                                                          remembers its payments when started again
//
// While it runs, it can be told to fail, and asked what it has done:
//
//     curl -X PUT http://127.0.0.1:8085/_simulator/faults -d '[{ "do": "unavailable", "times": 2 }]'
//     curl -X PUT http://127.0.0.1:8085/_simulator/faults -d '[{ "do": "decline", "customer": "c-1" }]'
//     curl http://127.0.0.1:8085/_simulator/effects
//
// Faults: decline, unavailable, slow (with delayMs), hang, lose-answer; see handlers/_payment-simulator.ts.
import { parseArgs } from 'node:util';
import { createJiti } from 'jiti';

const { values } = parseArgs({ options: { port: { type: 'string', default: '8085' }, file: { type: 'string' } } });
const { PaymentSimulator } = await createJiti(import.meta.url).import('../handlers/_payment-simulator.ts');

const simulator = new PaymentSimulator(values.file === undefined ? {} : { file: values.file });
console.log(`payment simulator at ${await simulator.listen(Number(values.port))}, until Ctrl-C`);
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => simulator.close());
