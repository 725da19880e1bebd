import { createOpenAI } from '@ai-sdk/openai'
import { OpenTelemetry } from '@ai-sdk/otel'
import { generateText, registerTelemetry, stepCountIs, streamText, tool } from 'ai'
import { z } from 'zod'
import { askedModel } from './instrumented-script.ts'
import { startTracing, traceCases } from './trace-cases.ts'

const sdk = startTracing()
registerTelemetry(
  new OpenTelemetry({
    enrichSpan: ({ runtimeContext }) => ({
      'gen_ai.conversation.id': String(runtimeContext?.['conversation'] ?? ''),
      'user.id': String(runtimeContext?.['user'] ?? ''),
    }),
  }),
)

const openai = createOpenAI({ baseURL: process.argv[2] ?? '', apiKey: 'provider-key' })
const call = {
  model: openai.chat(askedModel),
  instructions: 'You track parcels.',
  maxRetries: 0,
  runtimeContext: { conversation: 'talk of ai sdk', user: 'ada' },
  telemetry: {
    functionId: 'parcel desk',
    includeRuntimeContext: { conversation: true, user: true },
  },
} as const
const weather = tool({
  description: 'Says how warm it is.',
  inputSchema: z.object({ city: z.string() }),
  execute: async () => ({ celsius: 7 }),
})

await traceCases(sdk, [
  {
    name: 'plain',
    run: () => generateText({ ...call, prompt: 'plain: where is parcel 7?' }),
  },
  {
    name: 'stream',
    run: () => Promise.resolve(streamText({ ...call, prompt: 'stream: where is parcel 7?' }).text),
  },
  {
    name: 'tools',
    run: () => {
      const prompt = 'tools: how warm is it?'
      return generateText({ ...call, prompt, tools: { weather }, stopWhen: stepCountIs(3) })
    },
  },
  { name: 'refused', run: () => generateText({ ...call, prompt: 'refused: at once' }) },
])
