import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { buildAnswer } from './answer.ts'
import { dialects } from './dialects.ts'
import type { CompletionRequest } from './request.ts'
import { providerNames, type ScriptInput, scriptFrom } from './script.ts'
import { streamEvents } from './stream-events.ts'

type StepInput = NonNullable<ScriptInput['steps']>[number]
type Delta = {
  content?: string
  tool_calls?: { id?: string; function: { name?: string; arguments?: string } }[]
}
type Chunk = { choices: { index: number; delta: Delta; finish_reason: string | null }[] }

function chunksOf(
  step: StepInput,
  about: { provider: (typeof providerNames)[number]; n: number },
): Chunk[] {
  const [played] = scriptFrom({ steps: [step] }).steps
  if (!played) throw new Error('the script has no step')
  const request: CompletionRequest = {
    provider: about.provider,
    endpoint: 'chat.completions',
    model: 'm',
    messages: [{ role: 'user', text: 'hi', tool_call_id: null }],
    stream: true,
    stream_options_given: false,
    usage_asked: false,
    n: about.n,
    tool_demanded: null,
  }
  const answer = buildAnswer(request, played.reply, { seed: 1, created_s: 0 })
  const how = { dialect: dialects[about.provider], shape: played.stream }
  const data = Array.from(streamEvents(request, answer, how), (event) => event.data)
  expect(data.pop()).toBe('[DONE]')
  return data as Chunk[]
}

const provider = fc.constantFrom(...providerNames)
const stream = fc.record(
  {
    chunk_characters: fc.integer({ min: 1, max: 40 }),
    chunks: fc.integer({ min: 1, max: 40 }),
    interleave: fc.boolean(),
    tool_calls: fc.constantFrom('pieces' as const, 'whole' as const),
  },
  { requiredKeys: [] },
)
const choice = fc.record({
  content: fc.string({ unit: 'grapheme', maxLength: 60 }),
  tool_calls: fc.array(
    fc.record({ name: fc.string({ minLength: 1 }), arguments: fc.json({ maxDepth: 1 }) }),
    { maxLength: 3 },
  ),
})

describe('for any reply and any way to stream it', () => {
  test('the pieces of each choice add up to it, and no piece splits a character', () => {
    fc.assert(
      fc.property(
        provider,
        stream,
        fc.array(choice, { minLength: 1, maxLength: 3 }),
        (...given) => {
          const [provider, stream, choices] = given
          const chunks = chunksOf({ reply: { choices }, stream }, { provider, n: choices.length })
          for (const [index, wanted] of choices.entries()) {
            const mine = chunks.flatMap((chunk) =>
              chunk.choices.filter((one) => one.index === index),
            )
            const contents = mine.map(({ delta }) => delta.content ?? '')
            expect(contents.join('')).toBe(wanted.content)
            expect(contents.every((content) => content.isWellFormed())).toBe(true)
            const calls = mine.flatMap(({ delta }) => delta.tool_calls ?? [])
            const texts = calls.map((call) => call.function.arguments ?? '')
            expect(texts.join('')).toBe(wanted.tool_calls.map((call) => call.arguments).join(''))
            expect(calls.filter((call) => call.id !== undefined)).toHaveLength(
              wanted.tool_calls.length,
            )
          }
        },
      ),
    )
  })

  test('each choice ends once, with its last chunk', () => {
    fc.assert(
      fc.property(
        provider,
        stream,
        fc.array(choice, { minLength: 1, maxLength: 3 }),
        (...given) => {
          const [provider, stream, choices] = given
          const chunks = chunksOf({ reply: { choices }, stream }, { provider, n: choices.length })
          for (const [index, wanted] of choices.entries()) {
            const ends = chunks
              .flatMap((chunk) => chunk.choices.filter((one) => one.index === index))
              .map((one) => one.finish_reason)
            expect(ends.pop()).toBe(wanted.tool_calls.length > 0 ? 'tool_calls' : 'stop')
            expect(ends.every((end) => end === null)).toBe(true)
          }
        },
      ),
    )
  })
})
