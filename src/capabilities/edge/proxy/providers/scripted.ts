import type { Provider } from './contract.ts'

/**
 * The scripted provider of `onboarding`, for a test of an installation. It is known only where the
 * configuration says where it is.
 */
export const scripted = {
  name: 'scripted',
  base_url: undefined,
  paths: { 'chat.completions': '/chat/completions', completions: '/completions' },
  usage_semantics: 'inclusive',
} as const satisfies Provider
