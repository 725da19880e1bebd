import type { ScriptInput } from '../../src/capabilities/demo/index.ts'
import { testProvider } from './provider.ts'
import { type RawAnswer, rawPost } from './raw-post.ts'

export type StepInput = NonNullable<ScriptInput['steps']>[number]

/** The messages of `askOnce`. */
export const messages = [{ role: 'user', content: 'Where is parcel 7?' }]

/** Starts a scripted provider with one step, asks it once, stops it. */
export async function askOnce(
  step: StepInput,
  body: Record<string, unknown> = {},
  provider: 'openai' | 'anthropic' | 'gemini' = 'openai',
): Promise<RawAnswer> {
  await using server = await testProvider({ script: { steps: [step] } })
  const url = `${server.base_urls[provider]}/chat/completions`
  return await rawPost(url, { model: 'm-1', messages, ...body }).answer
}
