import type { ProviderName } from '../script.ts'
import { anthropic } from './anthropic.ts'
import type { Dialect } from './contract.ts'
import { gemini } from './gemini.ts'
import { openai } from './openai.ts'

/** Each provider's form. */
export const dialects: Record<ProviderName, Dialect> = { openai, anthropic, gemini }
