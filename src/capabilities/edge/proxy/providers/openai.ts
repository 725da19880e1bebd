import type { Provider } from './contract.ts'

/** OpenAI, whose format is the common one. Its prompt count includes cached tokens. */
export const openai = {
  name: 'openai',
  base_url: 'https://api.openai.com/v1',
  paths: { 'chat.completions': '/chat/completions', completions: '/completions' },
  usage_semantics: 'inclusive',
} as const satisfies Provider
