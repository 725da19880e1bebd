import type { ProviderName } from '../script.ts'
import { anthropic } from './anthropic.ts'
import type { Dialect } from './contract.ts'
import { gemini } from './gemini.ts'
import { openai } from './openai.ts'

/** The variants of all providers. */
export const dialects: Record<ProviderName, Dialect> = { openai, anthropic, gemini }
