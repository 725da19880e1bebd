import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { canonicalRule, type Rule, ruleFields } from '../../capabilities/incidents/rules/index.ts'
import { printable } from '../../kernel/printable.ts'
import { adminSettings, askApi } from '../ask-api.ts'
import { type Arguments, type CommandIo, exitStatus, NoAnswer, UsageError } from '../command.ts'
import { readLintFiles } from '../lint/read-documents.ts'
import { render } from '../output.ts'
import { faultLines, readRules } from './rule-files.ts'

/**
 * Makes the rules of a project those of files, and prints the steps with their differences. With
 * `--dry-run` nothing is changed, and the exit status is 1 if something would be.
 */
export async function applyRules(args: Arguments, io: CommandIo): Promise<number> {
  const { rules, faults } = readRules(await readLintFiles(args.values('filename'), io))
  if (faults.length > 0) {
    io.err(faultLines(faults))
    return exitStatus.usage
  }
  if (rules.length === 0) throw new UsageError('expected files with IncidentRules, got none')
  const api = new RulesApi(io.stop)
  const steps = planRules(rules, await api.list(), { prune: args.flag('prune') })
  const isDry = args.flag('dry-run')
  const warnings = isDry ? [] : await carryOut(api, steps)
  const shown = steps.map((step) => toShown(step))
  io.out(render(args, { dry_run: isDry, steps: shown, warnings }, () => pageOf(steps, warnings)))
  const isRefused = steps.some(({ action }) => action === 'refuse')
  const isChange = steps.some(({ action }) => action !== 'none' && action !== 'refuse')
  return isRefused || (isDry && isChange) ? exitStatus.findings : exitStatus.ok
}

const ruleSchema = z.looseObject({
  rule_id: z.string(),
  name: z.string(),
  version: z.int(),
  managed_by: z.looseObject({ namespace: z.string(), name: z.string() }).nullable(),
  evaluation: z.looseObject({ open_incidents: z.int() }),
  warnings: z.array(z.string()).default([]),
})
const pageSchema = z.object({ rules: z.array(ruleSchema), next_cursor: z.string().nullable() })

const path = '/api/v2/observability/incidents/rules'
const page_size = 200

/** The rules of a project in the API. */
class RulesApi {
  readonly #settings = adminSettings()
  readonly #stop: AbortSignal

  constructor(stop: AbortSignal) {
    this.#stop = stop
  }

  async list(): Promise<KnownRule[]> {
    const rules: KnownRule[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const after = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
      const answer = await this.#ask(`?limit=${page_size}${after}`, {})
      const page = this.#read(pageSchema, answer)
      rules.push(...page.rules)
      cursor = page.next_cursor
    }
    return rules
  }

  /** Carries out a step. Returns the warnings of the API. */
  async carryOut(step: PlannedStep): Promise<string[]> {
    if (step.action === 'create') return this.#write('', { body: step.rule })
    if (step.action === 'none' || step.action === 'refuse') return []
    const { rule_id, version: if_match } = step.known
    const at = `/${encodeURIComponent(rule_id)}`
    if (step.action === 'change') {
      return this.#write(at, { body: step.rule, method: 'PUT', if_match })
    }
    await this.#ask(at, { method: 'DELETE', if_match })
    return []
  }

  async #write(at: string, asked: Omit<Parameters<typeof askApi>[1], 'stop'>): Promise<string[]> {
    const { name, warnings } = this.#read(ruleSchema, await this.#ask(at, asked))
    return warnings.map((warning) => `${name}: ${warning}`)
  }

  #ask(at: string, asked: Omit<Parameters<typeof askApi>[1], 'stop'>): Promise<unknown> {
    const { url, access_token, project_id } = this.#settings
    const whole = { ...asked, access_token, project_id, stop: this.#stop }
    return askApi(new URL(`${path}${at}`, url), whole)
  }

  #read<Schema extends z.ZodType>(schema: Schema, answer: unknown): z.output<Schema> {
    const read = schema.safeParse(answer)
    if (read.success) return read.data
    const { url } = this.#settings
    throw new NoAnswer(`${url}: the answer is not about rules: check LOOPTRACE_URL`)
  }
}

/** Carries out the steps in their order, unless a resource owns one of the rules. */
async function carryOut(api: RulesApi, steps: readonly PlannedStep[]): Promise<string[]> {
  if (steps.some(({ action }) => action === 'refuse')) return []
  const warnings: string[] = []
  const changes = steps.filter(({ action }) => action !== 'none')
  for (const [made, step] of changes.entries()) {
    try {
      warnings.push(...(await api.carryOut(step)))
    } catch (error) {
      throw stoppedAt(step, `${made} of ${changes.length} changes were made`, error)
    }
  }
  return warnings
}

/** Returns the error of a change with the rule, and with how far the changes came. */
function stoppedAt({ name }: PlannedStep, progress: string, error: unknown): unknown {
  if (!(error instanceof NoAnswer || error instanceof UsageError)) return error
  const message = `rule ${printable(name)}: ${error.message}. ${progress}; the same command makes the others`
  return error instanceof NoAnswer ? new NoAnswer(message) : new UsageError(message)
}

function toShown(step: PlannedStep): object {
  const { action, name } = step
  if (action === 'refuse') return { action, name, owner: step.owner }
  return action === 'change' ? { action, name, differences: step.differences } : { action, name }
}

const marks = { create: '+', change: '~', delete: '-', none: '=', refuse: '!' } as const

function pageOf(steps: readonly PlannedStep[], warnings: readonly string[]): string {
  const lines = steps.flatMap((step) => [
    `${marks[step.action]} ${textOf(step)}`,
    ...(step.action === 'change' ? step.differences.map(differenceLine) : []),
  ])
  const counts = (['create', 'change', 'delete', 'none', 'refuse'] as const).flatMap((action) => {
    const count = steps.filter((step) => step.action === action).length
    return count === 0 ? [] : [`${count} ${summaries[action]}`]
  })
  const notes = warnings.map((warning) => `warning: ${printable(warning)}`)
  return [...lines, `${counts.join(', ')}`, ...notes].map((line) => `${line}\n`).join('')
}

const summaries = {
  create: 'to create',
  change: 'to change',
  delete: 'to delete',
  none: 'unchanged',
  refuse: 'declared by a Kubernetes resource',
} as const

/** A change and a deletion leave the open incidents of a rule to people. */
function textOf(step: PlannedStep): string {
  const name = printable(step.name)
  if (step.action === 'refuse') return `${name}: ${printable(step.owner)} declares it, change that`
  if (step.action !== 'change' && step.action !== 'delete') return name
  const { open_incidents } = step.known.evaluation
  return open_incidents === 0 ? name : `${name} (open incidents: ${open_incidents})`
}

function differenceLine({
  field,
  before,
  after,
}: {
  field: string
  before: unknown
  after: unknown
}) {
  return `    ${field}: ${printable(JSON.stringify(before))} → ${printable(JSON.stringify(after))}`
}

/** A rule of the project, as the API shows it. */
export type KnownRule = Readonly<Record<string, unknown>> & {
  rule_id: string
  name: string
  version: number
  /** The Kubernetes resource that declares the rule; null for others. */
  managed_by: { namespace: string; name: string } | null
  evaluation: { open_incidents: number }
}

/** A field in which two rules differ. */
type Difference = { field: string; before: unknown; after: unknown }

/** The step about a rule. */
export type PlannedStep =
  | { action: 'create'; name: string; rule: Rule }
  | { action: 'change'; name: string; rule: Rule; known: KnownRule; differences: Difference[] }
  | { action: 'delete'; name: string; known: KnownRule }
  | { action: 'none'; name: string }
  /** A Kubernetes resource declares the rule, which only that resource may change. */
  | { action: 'refuse'; name: string; owner: string }

/**
 * Plans the changes that make the rules of a project those of files, in the order of the files. With
 * `prune`, rules that no file has are deleted, except those that a resource declares. Deletions come
 * first: the project may have the maximum of rules.
 */
export function planRules(
  wanted: readonly Rule[],
  known: readonly KnownRule[],
  { prune }: { prune: boolean },
): PlannedStep[] {
  const byName = new Map(known.map((one) => [one.name, one]))
  const names = new Set(wanted.map(({ name }) => name))
  const gone = known.filter(({ name, managed_by }) => !names.has(name) && managed_by === null)
  const deleted = prune ? gone : []
  return [
    ...deleted.map((one): PlannedStep => ({ action: 'delete', name: one.name, known: one })),
    ...wanted.map((rule) => planRule(rule, byName.get(rule.name))),
  ]
}

function planRule(rule: Rule, known: KnownRule | undefined): PlannedStep {
  const { name } = rule
  if (known === undefined) return { action: 'create', name, rule }
  const differences = differencesOf(rule, known)
  if (differences.length === 0) return { action: 'none', name }
  const { managed_by } = known
  if (managed_by !== null) {
    return { action: 'refuse', name, owner: `${managed_by.namespace}/${managed_by.name}` }
  }
  return { action: 'change', name, rule, known, differences }
}

/** Returns the fields in which a rule of the project differs from that of a file. */
function differencesOf(rule: Rule, known: KnownRule): Difference[] {
  const before = canonicalRule(known) as Readonly<Record<string, unknown>>
  // As JSON, because undefined fields are absent in the API.
  const after = JSON.parse(JSON.stringify(canonicalRule(rule))) as Readonly<Record<string, unknown>>
  return Object.keys(ruleFields).flatMap((field): Difference[] => {
    const [one, other] = [before[field] ?? null, after[field] ?? null]
    return isDeepStrictEqual(one, other) ? [] : [{ field, before: one, after: other }]
  })
}
