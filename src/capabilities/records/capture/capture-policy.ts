import { z } from 'zod'
import type { Clock } from '../../../kernel/time.ts'
import { expected, isStorable } from '../../../model/list-query.ts'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import type { CaptureTables, Kysely } from '../../../platform/relational/index.ts'
import { projectDocumentRoutes } from '../../documents/index.ts'
import type { CapturePolicies } from './capture-policies.ts'
import { compilePattern, compilePolicy, InvalidMask } from './compile-policy.ts'
import { contentCaptures, type Mask } from './contract.ts'
import { maskText } from './mask-text.ts'
import { policyTable } from './store.ts'

/** Dependencies of the routes; `policies` is the cache of an edge in the same process, if any. */
export type CaptureDeps = {
  db: Kysely<CaptureTables>
  clock: Clock
  policies?: Pick<CapturePolicies, 'forget'> | undefined
}

/** Routes GET and PUT of the capture policy. Edges apply a change within 30 s. */
export function capturePolicyRoutes({ policies, ...deps }: CaptureDeps): Route[] {
  return projectDocumentRoutes(deps, {
    table: policyTable,
    url: '/api/v2/observability/capture-policy',
    get: {
      id: 'getCapturePolicy',
      summary: 'Capture policy of a project',
      auth: 'jwt',
      scope: { level: 'project', role: 'viewer', key: null },
    },
    put: { id: 'putCapturePolicy', summary: 'Set the capture policy of a project' },
    body: policyBody,
    reply: policySchema,
    errors: [],
    toColumns: (rules) => rules,
    toReply: ({ masks, ...row }) => ({ ...row, masks: masks.map(toMaskReply) }),
    changed: (project_id) => policies?.forget(project_id),
  })
}

function toMaskReply({ name, pattern, keys, replacement }: Mask) {
  return {
    name,
    ...(pattern !== null && { pattern }),
    ...(keys !== null && { keys: [...keys] }),
    replacement,
  }
}

const masks_max = 50
const pattern_chars_max = 1_000
const keys_max = 100
const key_chars_max = 256
const replacement_chars_max = 200

const storable = z.string().refine(isStorable, { error: expected('text without U+0000') })

const maskBody = z
  .strictObject({
    name: z
      .string()
      .regex(/^[A-Za-z0-9_.-]{1,64}$/, {
        error: expected('1 to 64 of the characters A-Z, a-z, 0-9, _ . -'),
      })
      .describe('Name of the mask, used in the default replacement.'),
    pattern: storable
      .max(pattern_chars_max, {
        error: ({ input }) =>
          `got ${String(input).length} characters, expected at most ${pattern_chars_max}`,
      })
      .optional()
      .describe('Pattern in RE2 syntax; its matches in any text are replaced.'),
    keys: z
      .array(storable.min(1).max(key_chars_max))
      .min(1)
      .max(keys_max)
      .optional()
      .describe(
        'Keys in JSON, attributes and metadata whose values are replaced; case-insensitive.',
      ),
    replacement: storable
      .max(replacement_chars_max)
      .optional()
      .describe('Text in place of masked content. Default: `[masked:<name>]`.'),
  })
  .meta({ id: 'CaptureMaskRequest' })
  .transform((mask, context): Mask => {
    const { name, pattern = null, keys = null } = mask
    const replacement = mask.replacement ?? `[masked:${name}]`
    const fault = maskFault({ pattern, keys, replacement })
    if (fault === undefined) return { name, pattern, keys, replacement }
    context.addIssue({ code: 'custom', path: [fault.field], message: fault.message })
    return z.NEVER
  })

/** Body of PUT: the whole policy. Fields left out have their defaults. */
export const policyBody = record('CapturePolicyRequest', {
  content: z
    .enum(contentCaptures, { error: expected(contentCaptures.join(', ')) })
    .meta({ id: 'CapturedContent' })
    .default('full')
    .describe(
      '`full`: record everything; `metadata_only`: record calls without content; `off`: record nothing.',
    ),
  sample_rate: z
    .number({ error: expected('a number from 0 to 1') })
    .min(0, { error: expected('a number from 0 to 1') })
    .max(1, { error: expected('a number from 0 to 1') })
    .default(1)
    .describe('Share of traces that is kept, 0–1; traces with errors are sampled like others.'),
  masks: z
    .array(maskBody)
    .max(masks_max, {
      error: ({ input }) =>
        `got ${Array.isArray(input) ? input.length : 0} masks, expected at most ${masks_max}`,
    })
    .default([])
    .superRefine((masks, context) => {
      const names = new Set<string>()
      masks.forEach(({ name }, at) => {
        if (names.has(name)) {
          const message = `got ${JSON.stringify(name)} twice, expected names that differ`
          context.addIssue({ code: 'custom', path: [at, 'name'], message })
        }
        names.add(name)
      })
    }),
})

/** Reply of GET and PUT. */
const policySchema = record('CapturePolicy', {
  project_id: z.uuid(),
  content: z.enum(contentCaptures),
  sample_rate: z.number(),
  masks: z.array(
    record('CaptureMask', {
      name: z.string(),
      pattern: z.string().optional(),
      keys: z.array(z.string()).optional(),
      replacement: z.string(),
    }),
  ),
  version: z.int().describe('Version, incremented with each change; 0 for the default policy.'),
  updated_at: z.iso.datetime().nullable(),
  updated_by: z.string().nullable().describe('`user:<id>` of the last change.'),
})

type Fault = { field: string; message: string }

function maskFault({ pattern, keys, replacement }: Omit<Mask, 'name'>): Fault | undefined {
  if ((pattern === null) === (keys === null)) {
    const got = pattern === null ? 'neither' : 'both'
    return { field: 'pattern', message: `got ${got}, expected either pattern or keys` }
  }
  if (pattern === null) return undefined
  try {
    if (!compilePattern(pattern).test(replacement)) return undefined
  } catch (error) {
    if (!(error instanceof InvalidMask)) throw error
    return { field: 'pattern', message: error.message }
  }
  const message = `got ${JSON.stringify(replacement)}, which the pattern matches itself; expected another replacement or a narrower pattern`
  return { field: 'replacement', message }
}

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
