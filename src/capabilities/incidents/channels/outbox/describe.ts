import { sql } from '../../../../platform/relational/index.ts'
import { type ActionLinks, actionLinks } from '../../messages/link-token.ts'
import type {
  Message,
  MessageDetails,
  MessageLinks,
  MessageReason,
} from '../../messages/message.ts'
import type { Examples, IncidentDb } from '../../ports.ts'
import { limitText, unitOf } from '../../rules/limit-text.ts'
import type { Rule } from '../../rules/rule.ts'
import { jsonOf } from '../../store/records.ts'
import { findRulesByName } from '../../store/rule-rows.ts'
import { hasAnswerLinks } from '../channel.ts'
import type { Claim, ClaimedMessage } from './claim.ts'

/** The ports of the details of messages. */
export type DescribePorts = {
  db: IncidentDb
  /** Left out: messages have no examples. */
  examples?: Examples | undefined
  /** Origin under which people open the service; left out: messages have no links. */
  public_url?: string | undefined
}

/** The ports of messages to send. Without a secret key, messages have no links that answer. */
type SendPorts = DescribePorts & { secret_key?: string | undefined }

/** Examples of a message. */
const examples_max = 3

/** Messages of one attempt that get examples: each one costs a statement. */
const described_max = 10

/** Time for the examples of an attempt: a message without them is better than a late one. */
const examples_ms_max = 4_000

/** Messages that announce an incident, which have examples. */
const announcing = new Set<MessageReason>([
  ...(['opened', 'reopened', 'flapping', 'still_firing', 'opened_and_resolved'] as const),
])

/**
 * Adds details and links to the messages of a claim. Details are stored with the message, so that all
 * attempts send the same text.
 */
export async function describe(claim: Claim, ports: SendPorts): Promise<Claim> {
  const { project_id } = claim
  const names = claim.messages.map(({ message }) => message.incident.rule)
  const rules = await findRulesByName(ports.db, project_id, names)
  const late = AbortSignal.timeout(examples_ms_max)
  const messages: ClaimedMessage[] = []
  for (const [at, one] of claim.messages.entries()) {
    const rule = rules.get(one.message.incident.rule)?.rule
    const isShown = at < described_max && announcing.has(one.reason)
    const examples = isShown ? ports.examples : undefined
    const details =
      one.message.details ?? (await detailsOf(one.message, rule, { ...ports, examples, late }))
    if (one.message.details === undefined) await storeDetails(ports.db, one.id, details)
    const described = { ...one.message, details }
    const pages = linksOf(described, ports.public_url)
    const links = pages && { ...pages, ...answersOf(one, claim, ports) }
    messages.push({ ...one, message: { ...described, ...(links && { links }) } })
  }
  return { ...claim, messages }
}

/** Returns the links that answer an incident, for people: programs have the API. */
function answersOf(
  message: ClaimedMessage,
  { channel }: Claim,
  { public_url, secret_key }: SendPorts,
): ActionLinks {
  if (public_url === undefined || secret_key === undefined) return {}
  if ('unusable' in channel || !hasAnswerLinks(channel)) return {}
  return actionLinks(message, { public_url, secret_key })
}

/** Adds details without examples, for a preview, whose links answer nothing. */
export async function described(
  message: Message,
  { db, public_url }: DescribePorts,
): Promise<Message> {
  const { project_id, rule: name } = message.incident
  const rules = await findRulesByName(db, project_id, [name])
  const reading = { db, late: new AbortController().signal }
  const details = await detailsOf(message, rules.get(name)?.rule, reading)
  const links = linksOf({ ...message, details }, public_url)
  return { ...message, details, ...(links && { links }) }
}

type Reading = Omit<DescribePorts, 'public_url'> & { late: AbortSignal }

async function detailsOf(
  { incident }: Message,
  rule: Rule | undefined,
  { db, examples, late }: Reading,
): Promise<MessageDetails> {
  const { project_id, group, opened_at } = incident
  const found =
    rule === undefined || rule.event !== undefined || examples === undefined
      ? []
      : await examples({
          project_id,
          rule,
          group,
          at_ms: Date.parse(opened_at),
          signal: late,
        }).catch(() => [])
  const shown = found.slice(0, examples_max)
  const named = [...incident.evidence.toReversed(), ...shown]
  const subject = named.find(({ task_id }) => task_id !== undefined)
  const finding = named.find(({ kind, id }) => kind === 'finding' && id !== undefined)
  const place = finding?.id === undefined ? undefined : await placeOf(db, project_id, finding.id)
  const traced = named.find(({ trace_id }) => trace_id !== undefined)
  return {
    limit: rule === undefined ? null : limitText(rule),
    unit: rule === undefined ? '' : unitOf(rule),
    task_id: subject?.task_id ?? null,
    trace_id: place?.trace_id ?? traced?.trace_id ?? null,
    step: finding?.task_id === subject?.task_id ? (place?.start_step ?? null) : null,
    examples: shown,
  }
}

type Place = { trace_id: string | null; start_step: number | null }

/** Returns where a finding begins; undefined for one that was deleted. */
async function placeOf(
  db: IncidentDb,
  project_id: string,
  finding_id: string,
): Promise<Place | undefined> {
  const { rows } = await sql<Place>`
    select start_step, coalesce(places -> 0 ->> 'trace_id', trace_ids[1]::text) as trace_id
    from findings where project_id = ${project_id} and finding_id::text = ${finding_id}
  `.execute(db)
  return rows[0]
}

async function storeDetails(db: IncidentDb, id: string, details: MessageDetails): Promise<void> {
  await sql`
    update notification_outbox
    set message = jsonb_set(message, '{details}', ${jsonOf(details)}::jsonb)
    where id = ${id}
  `.execute(db)
}

/** Returns the pages of the console about an incident. They open for people who signed in there. */
export function linksOf(
  { incident, details }: Pick<Message, 'incident' | 'details'>,
  public_url: string | undefined,
): MessageLinks | undefined {
  if (public_url === undefined) return undefined
  const project = `${public_url.replace(/\/$/, '')}/p/${incident.project_id}`
  // URLs of the console have the number that its pages show, from 1.
  const { task_id = null, trace_id = null, step = null } = details ?? {}
  const at = step === null ? '' : `?step=${step + 1}`
  return {
    incident: `${project}/incidents/${incident.incident_id}`,
    ...(task_id !== null && { task: `${project}/tasks/${encodeURIComponent(task_id)}${at}` }),
    ...(trace_id !== null && { trace: `${project}/traces/${encodeURIComponent(trace_id)}` }),
  }
}
