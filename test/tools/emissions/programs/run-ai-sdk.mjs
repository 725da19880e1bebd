// AI SDK with @ai-sdk/otel: `run-ai-sdk.mjs openai|anthropic|google`.
import { OpenTelemetry } from '@ai-sdk/otel'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { NodeSDK } from '@opentelemetry/sdk-node'
import { generateText, jsonSchema, registerTelemetry, stepCountIs, streamText, tool } from 'ai'
import * as connected from './connected.mjs'
import {
  description,
  instructions,
  question,
  readFile,
  schema,
  stepsMax,
  streamed,
} from './stack.mjs'

const models = { openai: 'gpt-5-mini', anthropic: 'claude-sonnet-4-5', google: 'gemini-2.5-flash' }
const sdk = new NodeSDK({ traceExporter: new OTLPTraceExporter(), instrumentations: [] })
sdk.start()
registerTelemetry(new OpenTelemetry())
const [, , provider] = process.argv
const asked = {
  model: connected.provider(models[provider]),
  instructions,
  prompt: question,
  tools: {
    read_file: tool({
      description,
      inputSchema: jsonSchema(schema),
      execute: async (input) => readFile(input),
    }),
  },
  stopWhen: stepCountIs(stepsMax),
  telemetry: { functionId: 'repair' },
}
if (streamed) await streamText(asked).text
else await generateText(asked)
await sdk.shutdown()
