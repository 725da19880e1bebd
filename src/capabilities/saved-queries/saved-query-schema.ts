import { z } from 'zod'
import { expected, isStorable } from '../../model/list-query.ts'
import { faultSchema, record } from '../../model/named-schemas.ts'
import { type Checked, faultsOf } from './check-template.ts'
import { parameterSchema, parameterTypes } from './parameters.ts'
import type { StoredQuery } from './store.ts'

const name_characters_max = 200
const description_characters_max = 2_000
const body_bytes_max = 65_536
const parameters_max = 50

const storable = z.string().refine(isStorable, { error: expected('text without U+0000') })

const kinds = ['query', 'aggregate'] as const
const visibilities = ['private', 'project'] as const

/** What POST and PUT take, checked against the catalogue as it is at this instant. */
export function savedQueryBody(now_ms: () => number) {
  return z
    .strictObject({
      name: storable.min(1).max(name_characters_max).describe('Unique among those of the project.'),
      description: storable.max(description_characters_max).default(''),
      visibility: z
        .enum(visibilities, { error: expected(visibilities.join(' or ')) })
        .meta({ id: 'SavedQueryVisibility' })
        .default('private')
        .describe('private: its owner sees it; project: all who may read the project.'),
      kind: z
        .enum(kinds, { error: expected(kinds.join(' or ')) })
        .describe('Which path its body is for.'),
      body: z
        .record(z.string(), z.unknown())
        .refine((body) => Buffer.byteLength(JSON.stringify(body)) <= body_bytes_max, {
          error: `expected at most ${body_bytes_max} bytes`,
        })
        .describe(
          'A body of query or query/aggregate. `{"$param": name}` stands for a value; the window may be `{"last": "24h"}`.',
        ),
      parameters: z
        .array(parameterSchema)
        .max(parameters_max)
        .default([])
        .superRefine((parameters, context) => {
          const names = parameters.map(({ name }) => name)
          for (const [at, name] of names.entries()) {
            if (names.indexOf(name) === at) continue
            context.addIssue({ code: 'custom', path: [at, 'name'], message: 'expected each once' })
          }
        }),
    })
    .superRefine((given, context) => {
      for (const { pointer, detail } of faultsOf(given, now_ms())) {
        const path = pointer.split('/').slice(1).map(unescaped)
        context.addIssue({ code: 'custom', path: ['body', ...path], message: detail })
      }
    })
    .meta({ id: 'SavedQueryRequest' })
}

function unescaped(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~')
}

/** What is shown of a saved query. */
export const savedQuerySchema = z
  .strictObject({
    saved_query_id: z.uuid(),
    owner: z.string().describe('`user:<id>`, `key:<id>` or `service_account:<id>`.'),
    name: z.string(),
    description: z.string(),
    visibility: z.enum(visibilities),
    kind: z.enum(kinds),
    body: z.record(z.string(), z.unknown()),
    parameters: z.array(
      record('QueryParameter', {
        name: z.string(),
        type: z.enum(parameterTypes),
        required: z.boolean(),
        default: z.unknown().optional(),
      }),
    ),
    broken: z
      .array(faultSchema)
      .describe('What it names that is no longer there; empty when it can be run.'),
    version: z.int().describe('One more with each change; its ETag.'),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    updated_by: z.string(),
  })
  .meta({ id: 'SavedQuery' })

/** Shows a saved query, and whether it still holds. */
export function shownSaved(stored: StoredQuery, now_ms: number): z.input<typeof savedQuerySchema> {
  const { id: saved_query_id, project_id: _project, ...rest } = stored
  const checked: Checked = rest
  return { saved_query_id, ...rest, broken: faultsOf(checked, now_ms) }
}
