import type { Attributes } from '@opentelemetry/api'
import type OpenAI from 'openai'
import { askedModel } from './instrumented-script.ts'
import type { TracedCase } from './trace-cases.ts'

type Message = OpenAI.ChatCompletionMessageParam

/** Calls of the openai package, the same for every instrumentation. */
export function openAiCases(client: OpenAI, attributes: Attributes): TracedCase[] {
  const ask = (messages: Message[]) =>
    client.chat.completions.create({
      model: askedModel,
      messages,
      temperature: 0.2,
      tools: [weatherTool],
    })
  return [
    { name: 'plain', attributes, run: () => ask(saying('plain: where is parcel 7?')) },
    { name: 'stream', attributes, run: () => streamed(client) },
    {
      name: 'tools',
      attributes,
      run: async () => {
        const asked = saying('tools: how warm is it?')
        const { choices } = await ask(asked)
        const message = choices[0]?.message
        const [call] = message?.tool_calls ?? []
        if (message === undefined || call === undefined) throw new Error('no call of a tool')
        const result = { role: 'tool' as const, tool_call_id: call.id, content: '{"celsius":7}' }
        return ask([...asked, message, result])
      },
    },
    { name: 'refused', attributes, run: () => ask(saying('refused: at once')) },
  ]
}

const weatherTool = {
  type: 'function' as const,
  function: {
    name: 'weather',
    description: 'Says how warm it is.',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
}

function saying(content: string): Message[] {
  return [
    { role: 'system', content: 'You track parcels.' },
    { role: 'user', content },
  ]
}

async function streamed(client: OpenAI): Promise<void> {
  const stream = await client.chat.completions.create({
    model: askedModel,
    messages: saying('stream: where is parcel 7?'),
    stream: true,
    stream_options: { include_usage: true },
  })
  for await (const _chunk of stream) {
    // Read to the end, as a user does, so that the span ends.
  }
}
