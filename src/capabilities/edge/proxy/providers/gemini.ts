import type { Provider } from './contract.ts'

/** Gemini by its OpenAI-compatible endpoint. Its prompt count includes cached tokens. */
export const gemini = {
  name: 'gemini',
  base_url: 'https://generativelanguage.googleapis.com/v1beta/openai',
  paths: { 'chat.completions': '/chat/completions', completions: '/completions' },
  usage_semantics: 'inclusive',
} as const satisfies Provider
