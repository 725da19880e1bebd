import { type Attributes, SpanStatusCode, trace } from '@opentelemetry/api'
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

/** Running tracing. `close` sends the remaining spans first, within a time limit. */
export type Tracing = { close(): Promise<void> }

/** Bounds the wait of a stopping process for an unavailable collector. */
const flushTimeoutMs = 3_000

/**
 * Sends traces of Looptrace itself to an OTLP endpoint over HTTP. Without a URL, the SDK is not
 * loaded and `inSpan` costs next to nothing. The proxy's hot path makes no spans, because its calls
 * are recorded anyway.
 */
export async function startTracing(options: {
  url: string | undefined
  role: string
}): Promise<Tracing> {
  if (options.url === undefined) return { close: async () => undefined }
  const { NodeSDK } = await import('@opentelemetry/sdk-node')
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-proto')
  const sdk = new NodeSDK({
    serviceName: `looptrace-${options.role}`,
    traceExporter: new OTLPTraceExporter({ url: options.url, timeoutMillis: flushTimeoutMs }),
    instrumentations: [],
  })
  sdk.start()
  return { close: () => sdk.shutdown().catch(() => undefined) }
}

/** Runs the work in a span. An error marks the span and is rethrown. */
export function inSpan<T>(
  name: string,
  attributes: Attributes,
  work: () => Promise<T>,
): Promise<T> {
  return trace.getTracer('looptrace').startActiveSpan(name, { attributes }, async (span) => {
    try {
      return await work()
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR, message: String(error).slice(0, 200) })
      throw error
    } finally {
      span.end()
    }
  })
}
