import { type Attributes, SpanStatusCode, trace } from '@opentelemetry/api'

/** Running tracing. `close` sends the remaining spans first, within a time limit. */
export type Tracing = { close(): Promise<void> }

/** Bounds the wait of a stopping process for an unavailable collector. */
const flushTimeout_ms = 3_000

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
    traceExporter: new OTLPTraceExporter({ url: options.url, timeoutMillis: flushTimeout_ms }),
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
