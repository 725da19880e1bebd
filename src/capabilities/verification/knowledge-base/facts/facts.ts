import { z } from 'zod'
import { idPage, idPageAfter, idPageQuery, pageFields } from '../../../../model/id-pages.ts'
import { isStorable, textParameter } from '../../../../model/list-query.ts'
import { record } from '../../../../model/named-schemas.ts'
import { defineRoute, type Route, requesterOf } from '../../../../platform/http/index.ts'
import type { KnowledgeDeps } from '../knowledge-base.ts'
import { countFacts, keyOf, type StoredFact, selectFacts, upsertFacts } from './store.ts'

const url = '/api/v1/verification/facts'

const facts_max = 1_000

function text(characters_max: number) {
  return z
    .string()
    .trim()
    .min(1)
    .max(characters_max)
    .refine((given) => isStorable(given) && given.isWellFormed(), {
      error: 'expected text without U+0000 and halves of surrogate pairs',
    })
}

const factBody = z
  .strictObject({
    subject: text(200).describe('Subject of the fact, such as `Lake Ina`.'),
    attribute: text(200).describe('Property of the subject, such as `area` or `revenue 2024`.'),
    value: z
      .union([z.number(), text(500)], { error: 'expected a number or text' })
      .transform(String)
      .describe(
        'Value. A number, a date such as `2026-03-05`, and yes or no support or contradict claims. Another text only marks an equal value in an answer as known.',
      ),
    unit: text(50)
      .or(z.literal(''))
      .default('')
      .describe('Unit of a number, such as `km²` or `EUR/month`.'),
    source: text(500)
      .or(z.literal(''))
      .default('')
      .describe('Source of the fact, at most 500 characters.'),
  })
  .meta({ id: 'FactRequest' })

const factsBody = z
  .union([factBody, z.array(factBody).min(1).max(facts_max)], {
    error: `expected a fact, or a list of 1 to ${facts_max} facts`,
  })
  .transform((given) => (Array.isArray(given) ? given : [given]))
  .superRefine((facts, context) => {
    const seen = new Set<string>()
    for (const [at, fact] of facts.entries()) {
      const message = 'expected each subject, attribute and unit once'
      if (seen.has(keyOf(fact))) context.addIssue({ code: 'custom', path: [at], message })
      seen.add(keyOf(fact))
    }
  })

const factSchema = record('Fact', {
  fact_id: z.uuid(),
  subject: z.string(),
  attribute: z.string(),
  value: z.string().describe('Value as text.'),
  unit: z.string(),
  source: z.string(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  updated_by: z.string(),
})

/** POST /api/v1/verification/facts: adds or replaces facts. */
export function putFacts({ db, clock, limits }: KnowledgeDeps): Route {
  return defineRoute({
    method: 'POST',
    url,
    id: 'putFacts',
    summary: 'Add facts, or replace those of the same subject, attribute and unit',
    auth: 'jwt',
    scope: { level: 'project', role: 'editor', key: 'verification:run' },
    body: factsBody,
    reply: record('FactsStored', {
      facts: z.array(factSchema),
      created: z.int().describe('Facts that are new.'),
      replaced: z.int().describe('Facts that existed.'),
    }),
    errors: ['knowledge_base_full', 'store_unavailable'],
    handle: async ({ body: facts, caller }) => {
      const now = new Date(clock.now_ms()).toISOString()
      const given = { project_id: caller.project_id, facts, now, by: requesterOf(caller) }
      const stored = await upsertFacts(db, given, limits)
      const replaced = stored.facts.length - stored.created
      return { facts: stored.facts.map(toFact), created: stored.created, replaced }
    },
  })
}

/** GET /api/v1/verification/facts: lists facts. */
export function listFacts({ db }: KnowledgeDeps): Route {
  return defineRoute({
    method: 'GET',
    url,
    id: 'listFacts',
    summary: 'Facts of the knowledge base, newest first',
    auth: 'jwt',
    scope: { level: 'project', role: 'viewer', key: 'verification:run' },
    query: listQuery,
    reply: record('FactList', {
      facts: z.array(factSchema),
      ...pageFields,
    }),
    errors: ['invalid_cursor', 'store_unavailable'],
    handle: async ({ query: { limit, cursor, subject, attribute }, caller: { project_id } }) => {
      const filter = { project_id, subject, attribute }
      const list = `facts ${JSON.stringify([subject, attribute])}`
      const { count_max, ...bounds } = idPageAfter(list, { limit, cursor })
      const [rows, counted] = await Promise.all([
        selectFacts(db, { ...filter, ...bounds }),
        countFacts(db, { ...filter, limit: count_max }),
      ])
      const page = idPage({ rows, counted }, { list, limit, idOf: ({ id }) => id })
      return { facts: page.items.map(toFact), ...page.info }
    },
  })
}

const listQuery = z.strictObject({
  subject: textParameter('Returns only facts about this subject, in any case.', 200),
  attribute: textParameter('Returns only facts with this attribute, in any case.', 200),
  ...idPageQuery,
})

function toFact({ id: fact_id, project_id: _project, ...rest }: StoredFact) {
  return { fact_id, ...rest }
}
