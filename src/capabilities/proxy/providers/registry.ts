import { anthropic } from './anthropic.ts'
import type { Provider } from './contract.ts'
import { gemini } from './gemini.ts'
import { openai } from './openai.ts'

/** The providers; the first is the one that serves a call without X-Provider. */
export const providers = [openai, anthropic, gemini] as const

export type ProviderName = (typeof providers)[number]['name']

/** The provider of that name, or undefined. */
export function providerNamed(name: string): Provider<ProviderName> | undefined {
  return providers.find((provider) => provider.name === name)
}
