import { z } from 'zod'
import { isUuid } from '../../../kernel/ids.ts'
import { keyScopes } from '../../../kernel/scopes.ts'
import { record } from '../../../model/named-schemas.ts'
import { type Caller, defineRoute, type Route } from '../../../platform/http/index.ts'
import { type OnboardingDb, readScope } from '../contract.ts'
import { checkIds } from './check-ids.ts'
import { summarize, toChecks } from './checks.ts'
import { variables } from './commands.ts'
import { type ReportDeps, readFacts } from './read-facts.ts'
import { findAskingKey } from './store.ts'

const count = z.int().nonnegative()

const checkSchema = record('OnboardingCheck', {
  id: z.enum(checkIds).meta({ id: 'OnboardingCheckId' }),
  title: z.string(),
  state: z
    .enum(['done', 'missing', 'unknown'])
    .meta({ id: 'OnboardingCheckState' })
    .describe('State of the check. `unknown`: a store gave no answer in time.'),
  required: z.boolean().describe('Whether `ready` requires the check.'),
  since: z.iso
    .datetime()
    .nullable()
    .describe('Time when the check was first done; null if unknown.'),
  detail: z.string(),
  commands: z
    .array(
      record('OnboardingCommand', {
        tool: z.enum(['curl', 'kubectl', 'looptrace']).meta({ id: 'OnboardingTool' }),
        text: z.string().describe('Command for a POSIX shell that uses `variables`.'),
      }),
    )
    .describe(
      'Commands that complete the check. The first one is sufficient. Empty for a completed check.',
    ),
})

const reportReply = record('OnboardingReport', {
  project_id: z.uuid(),
  checked_at: z.iso.datetime(),
  ready: z.boolean().describe('Whether all required checks are done.'),
  done: count.describe('Number of checks that are done.'),
  missing: count,
  unknown: count,
  checks: z.array(checkSchema).describe('Checks, in the recommended order.'),
  variables: z
    .array(record('OnboardingVariable', { name: z.string(), meaning: z.string() }))
    .describe('Variables of the commands.'),
  scenario_id: z
    .uuid()
    .nullable()
    .describe('Last run of the seeded scenario; null if it was not run, or its data were removed.'),
  caller: record('OnboardingCaller', {
    kind: z
      .enum(['user', 'service_account', 'key', 'operator'])
      .meta({ id: 'OnboardingCallerKind' }),
    scopes: z
      .array(z.enum(keyScopes))
      .nullable()
      .describe('Scopes of the key that asked; null for people.'),
    environment: z.string().nullable().describe('Environment of the key that asked.'),
    expires_at: z.iso.datetime().nullable().describe('Expiry of the key that asked.'),
  }),
})

/** The task in commands while no task has a name. */
const exampleTask = 'my-first-task'

/**
 * GET /api/v1/onboarding/report: the checks of an installation, with commands for each missing one.
 * Reads stored data at each call, with a bounded number of statements that take at most 2 s.
 */
export function getOnboardingReport(deps: ReportDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/onboarding/report',
    id: 'getOnboardingReport',
    summary: 'Onboarding report: completed and missing checks, with commands',
    auth: 'jwt_or_key',
    scope: readScope,
    reply: reportReply,
    errors: ['store_unavailable'],
    handle: async ({ caller }) => {
      const { project_id } = caller
      const checked_at = new Date(deps.clock.now_ms()).toISOString()
      const { facts, named_task, scenario_id } = await readFacts(deps, project_id)
      const about = {
        project_id,
        task_id: named_task ?? exampleTask,
        today: checked_at.slice(0, 10),
      }
      const checks = toChecks(facts, about)
      return {
        project_id,
        checked_at,
        ...summarize(checks),
        checks,
        scenario_id,
        variables: Object.entries(variables).map(([name, meaning]) => ({ name, meaning })),
        caller: await describeCaller(deps.db, caller),
      }
    },
  })
}

async function describeCaller(
  db: OnboardingDb,
  { kind, id, project_id }: Caller,
): Promise<z.input<typeof reportReply>['caller']> {
  const isKey = kind === 'key' && isUuid(id)
  const key = isKey ? await findAskingKey(db, { project_id, id }) : undefined
  if (key === undefined) return { kind, scopes: null, environment: null, expires_at: null }
  const scopes = keyScopes.filter((scope) => key.scopes.includes(scope))
  return { kind, scopes, environment: key.environment, expires_at: key.expires_at }
}
