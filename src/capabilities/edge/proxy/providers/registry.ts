import { anthropic } from './anthropic.ts'
import { gemini } from './gemini.ts'
import { openai } from './openai.ts'
import { scripted } from './scripted.ts'

/** The providers; the first is the one that serves a call without X-Provider. */
export const providers = [openai, anthropic, gemini, scripted] as const

export type ProviderName = (typeof providers)[number]['name']
