import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import {
  readStatement,
  type Statement,
  statementPayloadType,
} from '../../capabilities/certification/index.ts'
import { openEnvelope, readPublicKeys, StatementFault } from '../../capabilities/signing/index.ts'
import { canonicalJson } from '../../kernel/canonical-json.ts'
import { objectFrom, parsedJson } from '../../kernel/json-values.ts'
import { printable } from '../../kernel/printable.ts'
import { type Arguments, type CommandIo, exitStatus, NoAnswer, UsageError } from '../command.ts'
import { environmentText } from './certification-answer.ts'

/** Difference of the clocks of signer and reader that is accepted: five minutes. */
const clockSkewMs = 300_000

/** Verifies the signed statement of a release certification, without a service. */
export async function verifyStatement(args: Arguments, io: CommandIo): Promise<number> {
  const [path = '-'] = args.words
  const keysPath = args.value('keys')
  if (keysPath === undefined) throw new UsageError('expected --keys')
  const text = path === '-' ? await io.stdin() : await readText(path)
  const keys = await readText(keysPath)
  const policyPath = args.value('policy')
  const policy = policyPath === undefined ? undefined : await readText(policyPath)
  try {
    const known = readPublicKeys(keys)
    const { payload, keyid } = openEnvelope(text, statementPayloadType, known)
    const statement = readStatement(payload)
    const project = args.value('project')
    checkExpected(statement, { project, policy, subject: args.value('subject') })
    checkIssued(statement, io.now_ms())
    return report(statement, { keyid, isProjectChecked: project !== undefined }, io)
  } catch (error) {
    if (!(error instanceof StatementFault)) throw error
    io.err(`not valid: ${error.code}: ${printable(error.message)}\n`)
    return exitStatus.no_answer
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new NoAnswer(`${path}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Throws when the statement is of another project, image or policy than the reader expects. */
function checkExpected(
  { subject, predicate }: Statement,
  expected: Record<'project' | 'policy' | 'subject', string | undefined>,
): void {
  const { project_id } = predicate
  if (expected.project !== undefined && expected.project.toLowerCase() !== project_id) {
    throw new StatementFault('not_a_statement', `got the project ${project_id}, expected --project`)
  }
  const digest = `sha256:${subject[0].digest.sha256}`
  if (expected.subject !== undefined && expected.subject !== digest) {
    throw new StatementFault('not_a_statement', `got the subject ${digest}, expected --subject`)
  }
  if (expected.policy === undefined) return
  const policy = objectFrom(parsedJson(expected.policy))
  if (policy === undefined) throw new NoAnswer('--policy: expected a JSON object')
  const { digest: _, ...content } = policy
  if (hash('sha256', canonicalJson(content)) !== predicate.policy.digest) {
    const got = `got the policy digest ${predicate.policy.digest}`
    throw new StatementFault('not_a_statement', `${got}, expected the digest of --policy`)
  }
}

function checkIssued({ predicate }: Statement, nowMs: number): void {
  if (Date.parse(predicate.issued_at) <= nowMs + clockSkewMs) return
  throw new StatementFault('not_a_statement', 'issued_at: expected a time in the past')
}

/** Prints the statement and returns the exit status of its verdict. */
function report(
  { subject, predicate }: Statement,
  { keyid, isProjectChecked }: { keyid: string; isProjectChecked: boolean },
  io: CommandIo,
): number {
  const { release, policy, environment, verdict, expires_at, attempt, max_attempts } = predicate
  const isExpired = Date.parse(expires_at) <= io.now_ms()
  const gates = predicate.gates.map(describeGate)
  const notes = [
    ...predicate.obstacles.map((obstacle) => `obstacle: ${obstacle}`),
    ...predicate.warnings.map((warning) => `warning: ${warning}`),
  ]
  const lines = [
    `signature: valid, key ${keyid}`,
    `project: ${predicate.project_id}${isProjectChecked ? '' : ' (not checked: give --project)'}`,
    `subject: ${subject[0].name} sha256:${subject[0].digest.sha256}`,
    `release: ${release.name} ${release.version} ${environmentText(environment)}`,
    `policy: ${policy.id} ${policy.version} sha256:${policy.digest}`,
    ...gates,
    ...describeTasks(predicate),
    ...notes,
    `attempt: ${attempt} of ${max_attempts}`,
    `expires: ${expires_at}${isExpired ? ' (expired)' : ''}`,
    `verdict: ${verdict}`,
  ]
  io.out(lines.map((line) => `${printable(line)}\n`).join(''))
  if (verdict === 'rejected') return 1
  return verdict === 'certified' && !isExpired ? 0 : 2
}

/** Names the doubtful and missing tasks of a statement, as far as there are any. */
function describeTasks({ tasks, baseline_tasks }: Statement['predicate']): string[] {
  return (
    [
      ['tasks', tasks],
      ['tasks of the baseline', baseline_tasks],
    ] as const
  ).flatMap(([of, counts]) => {
    if (!counts) return []
    const { total, ...doubtful } = counts
    const some = Object.entries(doubtful).filter(([, count]) => count > 0)
    return [[`${of}: ${total}`, ...some.map(([name, count]) => `${name} ${count}`)].join(', ')]
  })
}

function describeGate(gate: Statement['predicate']['gates'][number]): string {
  const { metric, tier, verdict, n, reason, warnings, group } = gate
  const notes = [...(reason === null ? [] : [reason]), ...warnings]
  const about = notes.length === 0 ? '' : ` (${notes.join(', ')})`
  const of = group === null ? '' : `, worst group "${group}"`
  return `gate ${metric} (${tier}): ${verdict}, n = ${n}${of}${about}`
}
