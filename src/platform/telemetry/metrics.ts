import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** The metrics of one process, in the Prometheus text format. Names end in their base unit. */
export type Metrics = {
  counter<L extends string>(definition: MetricDefinition<L>): Counter<L>
  /** `collect` sets the value on each scrape. */
  gauge<L extends string>(
    definition: MetricDefinition<L> & { collect?: (gauge: Gauge<L>) => unknown },
  ): Gauge<L>
  histogram<L extends string>(
    definition: MetricDefinition<L> & { buckets: readonly number[] },
  ): Histogram<L>
  expose(): Promise<{ content_type: string; body: string }>
}

type MetricDefinition<L extends string> = { name: string; help: string; labels?: readonly L[] }

/** Creates the metrics registry of a process, with the default metrics of Node. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const registers = [registry]
  return {
    counter: ({ name, help, labels = [] }) =>
      new Counter({ name, help, labelNames: labels, registers }),
    gauge: ({ name, help, labels = [], collect }) =>
      gauge(registers, { name, help, labels, collect }),
    histogram: ({ name, help, labels = [], buckets }) =>
      new Histogram({ name, help, labelNames: labels, buckets: [...buckets], registers }),
    expose: async () => ({ content_type: registry.contentType, body: await registry.metrics() }),
  }
}

function gauge<L extends string>(
  registers: Registry[],
  definition: {
    name: string
    help: string
    labels: readonly L[]
    collect: ((gauge: Gauge<L>) => unknown) | undefined
  },
): Gauge<L> {
  const { collect } = definition
  return new Gauge<L>({
    name: definition.name,
    help: definition.help,
    labelNames: definition.labels,
    registers,
    ...(collect && {
      async collect(this: Gauge<L>) {
        await collect(this)
      },
    }),
  })
}
