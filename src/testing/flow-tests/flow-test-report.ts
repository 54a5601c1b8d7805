import { Report } from '../../definition/index.js';
import type { DiagnosticCode, Range } from '../../syntax/index.js';

/** The checks of single fields are those of flows; what they find has a code of its own in a flow test. */
const ownCodes: Partial<Record<DiagnosticCode, DiagnosticCode>> = {
  RS2001: 'RS6001',
  RS2002: 'RS6002',
  RS2003: 'RS6003',
  RS2004: 'RS6004',
  RS2024: 'RS6005',
  RS2010: 'RS6006',
  RS2012: 'RS6007',
  RS2013: 'RS6008',
  RS2014: 'RS6009',
  RS2015: 'RS6009',
  RS2017: 'RS6010',
  RS2018: 'RS6011',
  RS2041: 'RS6040',
};

export class FlowTestReport extends Report {
  override error(code: DiagnosticCode, range: Range, message: string, help: string): void {
    super.error(ownCodes[code] ?? code, range, message, help);
  }

  override warning(code: DiagnosticCode, range: Range, message: string, help: string): void {
    super.warning(ownCodes[code] ?? code, range, message, help);
  }
}
