import { runDetectors } from '../../src/capabilities/detection/analyse/run-detectors.ts'
import type { FindingDraft } from '../../src/capabilities/detection/contract.ts'
import { reconstruct, type TaskRun } from '../../src/capabilities/detection/reconstruction/index.ts'
import { defaultDetectionSettings } from '../../src/capabilities/detection/settings/detector-settings.ts'
import { agentRun } from '../../test/corpus/agent-run.ts'
import { isMedium } from '../../test/corpus/measure.ts'
import type { ChatMessage } from '../../test/corpus/recorded-run.ts'
import { haveEqualWords } from './equal-words.ts'

/** A labelled run of an agent that writes its actions as text. */
export type TextAgentRecord = {
  id: string
  dialect: string
  outcome: 'healthy' | 'faulty'
  /** Indexes are of `messages`. */
  fault: { kind: string; first_message: number; last_message: number; why: string } | null
  steps: readonly LabelledStep[]
  messages: readonly { role: ChatMessage['role']; content: string }[]
}

type LabelledStep = {
  message: number
  name: string
  arguments: string
  result_message: number | null
}

/** A tool use as the reconstruction read it, placed in the messages. */
type ReadStep = { message: number; name: string; arguments: string; result: string | null }

/** What was found in one run, compared with its labels. */
export type TextAgentVerdict = {
  record: TextAgentRecord
  missed: readonly LabelledStep[]
  /** Steps that were read where no label has one. */
  extra: readonly ReadStep[]
  /** Steps found, of these those with the same arguments, and with the labelled result. */
  found: number
  same_arguments: number
  same_result: number
  wrong_parts: readonly { label: LabelledStep; read: ReadStep }[]
  /** Findings of medium severity or higher. */
  flags: readonly FindingDraft[]
  findings: readonly FindingDraft[]
  /** Whether a finding of the fault's kind overlaps it; undefined for a healthy run. */
  is_fault_found: boolean | undefined
}

const settings = defaultDetectionSettings()

/** Reads a run as the proxy records it, and compares steps and findings with the labels. */
export function judgeTextAgent(record: TextAgentRecord): TextAgentVerdict {
  const run = toRun(record)
  const read = readSteps(record, run)
  const { findings } = runDetectors(run, settings)
  const rest = [...read]
  const missed: LabelledStep[] = []
  const pairs: { label: LabelledStep; read: ReadStep }[] = []
  for (const label of record.steps) {
    const at = rest.findIndex((one) => isSameStep(one, label))
    const [one] = at === -1 ? [] : rest.splice(at, 1)
    if (one === undefined) missed.push(label)
    else pairs.push({ label, read: one })
  }
  const isSameInput = (pair: (typeof pairs)[number]) =>
    haveEqualWords(pair.label.arguments, pair.read.arguments)
  const isSameOutput = (pair: (typeof pairs)[number]) => hasResult(record, pair)
  const { fault } = record
  return {
    record,
    missed,
    extra: rest,
    found: pairs.length,
    same_arguments: pairs.filter(isSameInput).length,
    same_result: pairs.filter(isSameOutput).length,
    wrong_parts: pairs.filter((pair) => !isSameInput(pair) || !isSameOutput(pair)),
    findings,
    flags: findings.filter(isMedium),
    is_fault_found: fault === null ? undefined : findings.some((one) => fits(one, record, run)),
  }
}

/** Rebuilds the calls: each assistant message answered a call with all messages before it. */
function toRun({ id, messages }: TextAgentRecord): TaskRun {
  let run = agentRun(id)
  for (const { role, content } of messages) {
    if (role === 'assistant') run = run.assistant(content)
    else run = run.edit((all) => [...all, { role, content }])
  }
  return reconstruct(run.observations())
}

function readSteps({ messages }: TextAgentRecord, run: TaskRun): ReadStep[] {
  const answers = messages.flatMap(({ role }, at) => (role === 'assistant' ? [at] : []))
  return run.tools.flatMap(({ step, name, arguments: args, result }) => {
    const message = step === null ? undefined : answers[step]
    return message === undefined ? [] : [{ message, name, arguments: args ?? '', result }]
  })
}

function isSameStep(read: ReadStep, label: LabelledStep): boolean {
  return read.message === label.message && read.name.toLowerCase() === label.name.toLowerCase()
}

function hasResult(
  { messages }: TextAgentRecord,
  { label, read }: { label: LabelledStep; read: ReadStep },
): boolean {
  if (label.result_message === null) return read.result === null
  const text = messages[label.result_message]?.content ?? ''
  return read.result !== null && text.includes(read.result.trim())
}

/** Types of findings by the kind of a labelled fault; a loop is any finding of that kind. */
const typesOfFault: Readonly<Record<string, readonly string[]>> = {
  hidden_tool_error: ['false_success', 'hidden_tool_error'],
  claimed_never_called: ['claimed_never_called', 'claimed_but_never_called', 'unperformed_claim'],
}

/** Maximum messages between a finding and its label. */
const beside_max = 4

function fits(finding: FindingDraft, { fault, messages }: TextAgentRecord, run: TaskRun): boolean {
  if (fault === null || finding.start_step === null) return false
  const types = typesOfFault[fault.kind]
  if (types === undefined ? finding.kind !== 'loop' : !types.includes(finding.type)) return false
  const answers = messages.flatMap(({ role }, at) => (role === 'assistant' ? [at] : []))
  const start = answers[finding.start_step] ?? 0
  const end = answers[finding.end_step ?? run.steps.length] ?? messages.length
  return start <= fault.last_message + beside_max && end >= fault.first_message - beside_max
}
