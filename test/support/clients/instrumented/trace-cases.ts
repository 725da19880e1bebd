import { type Attributes, SpanStatusCode, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { NodeSDK } from '@opentelemetry/sdk-node'

/** A case of an instrumented program; each runs below its own root span. */
export type TracedCase = { name: string; attributes?: Attributes; run: () => Promise<unknown> }

/** Starts tracing from environment variables (endpoint, headers, service name). */
export function startTracing(): NodeSDK {
  const sdk = new NodeSDK({ traceExporter: new OTLPTraceExporter(), instrumentations: [] })
  sdk.start()
  return sdk
}

/**
 * Runs each case, exports all spans, and prints the trace id of each case as JSON. If a case
 * rejects, its instrumentation has to report the error.
 */
export async function traceCases(sdk: NodeSDK, cases: readonly TracedCase[]): Promise<void> {
  const tracer = trace.getTracer('instrumented-program')
  const traces: Record<string, string> = {}
  for (const { name, attributes = {}, run } of cases) {
    await tracer.startActiveSpan(name, { attributes }, async (root) => {
      traces[name] = root.spanContext().traceId
      await run().catch((error: Error) => {
        root.setStatus({ code: SpanStatusCode.ERROR, message: error.constructor.name })
      })
      root.end()
    })
  }
  await sdk.shutdown()
  process.stdout.write(`${JSON.stringify(traces)}\n`)
}
