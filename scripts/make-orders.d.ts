export interface MadeOrders {
  readonly csv: string;
  readonly good: readonly { line: number; orderId: string; currency: string; cents: number }[];
  readonly bad: readonly { line: number; kind: string }[];
}

export function makeOrders(options?: { count?: number; badCount?: number; seed?: number }): MadeOrders;
