import { z } from 'zod'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { policyBody } from './capture-policy.ts'
import { compilePolicy } from './compile-policy.ts'
import { maskText } from './mask-text.ts'

const text_chars_max = 20_000

/** POST /api/v2/observability/capture-policy/preview: what a policy stores of a text. */
export function previewCapturePolicy(): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/observability/capture-policy/preview',
    id: 'previewCapturePolicy',
    summary: 'Preview the parts of a text that a capture policy would store',
    auth: 'jwt',
    scope: { level: 'project', role: 'viewer', key: null },
    body: record('PreviewCaptureRequest', {
      policy: policyBody,
      text: z
        .string()
        .max(text_chars_max)
        .describe(
          `Input or output of a call, as text or JSON, up to ${text_chars_max} characters.`,
        ),
    }),
    reply: record('CapturePreview', {
      text: z.string().nullable().describe('Stored text; null: no content is stored.'),
      masked: z.boolean().describe('Whether masks changed the text.'),
    }),
    errors: [],
    handle: async ({ body: { policy, text } }) => {
      const { content, masker } = compilePolicy(policy)
      if (content !== 'full') return { text: null, masked: false }
      const stored = masker === undefined ? text : maskText(text, masker)
      return { text: stored, masked: stored !== text }
    },
  })
}
