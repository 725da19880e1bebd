import { z } from 'zod'
import { claimVerdicts } from '../../../model/claim-verdict.ts'
import { dollarsSchema, record } from '../../../model/named-schemas.ts'
import { statuses, traceIdSchema } from '../../../model/observation.ts'
import { instantSchema } from '../task.ts'
import {
  callErrorSchema,
  callOutcomeSchema,
  callTokensSchema,
  toolSourceSchema,
} from '../timeline-entry.ts'
import {
  recordedContentSchema,
  referenceSchema,
  toolFaultSchema,
  toolOrphanSchema,
} from '../tool-calls.ts'

const count = z.int().nonnegative()
const ms = z.number().nonnegative()

const textFields = {
  text: z.string().describe('The text, or its beginning.'),
  characters: count.describe('Length of the whole text in UTF-16 units.'),
  cut: z.boolean().describe('The text was cut; the observation has the whole text.'),
}

const textSchema = record('TurnText', textFields)

const messageSchema = record('TurnMessage', {
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  ...textFields,
  from_harness: z
    .boolean()
    .describe('Whether the agent’s own program wrote this text in the name of the user.'),
  tool_use: count
    .nullable()
    .describe('`index` of the tool use whose result this message is; null for other messages.'),
})

const answerSchema = record('TurnAnswer', {
  text: textSchema.nullable().describe('Text of the answer; null if its content is unknown.'),
  reasoning: textSchema
    .nullable()
    .describe('Reasoning of the model, which is not part of `text`; null without.'),
  refused: z.boolean().describe('Whether the provider marked the answer as a refusal.'),
  partial: z.boolean().describe('Whether the stream was cut before the provider finished.'),
  follows_user: z
    .boolean()
    .describe('Whether a person sent a message since the previous answer of the thread.'),
})

const toolUseSchema = record('TurnToolUse', {
  index: count.describe('Number of the tool use in the task, from 0.'),
  tool_call_id: z
    .string()
    .describe('The id that the model or the client gave; empty when neither did.'),
  name: z.string().describe('The tool; empty for a result whose call was not recorded.'),
  title: z
    .string()
    .describe('Name and main argument, such as `search: refund for a cracked hopper`.'),
  origin: z
    .enum(['answer', 'history', 'run'])
    .describe(
      '`answer`: the answer of this turn requested it; `history`: the new messages of this turn had ' +
        'it; `run`: an observation shows that it ran, and no recorded answer requested it.',
    ),
  arguments: textSchema
    .nullable()
    .describe('Arguments as the model wrote them; null when unknown.'),
  arguments_valid: z.boolean().describe('`false`: the arguments are not valid JSON.'),
  answered: z.boolean().describe('Whether a result came, or the tool is known to have run.'),
  result: textSchema.nullable().describe('The result; null when none came or it is unknown.'),
  error: toolFaultSchema
    .nullable()
    .describe('As in the list of tool calls; null: it succeeded, or its outcome is unknown.'),
  latency_ms: ms
    .nullable()
    .describe('Time since the end of the requesting call, or the start of the tool’s observation.'),
  orphan: toolOrphanSchema
    .nullable()
    .describe('`call`: no result came; `result`: no call requested it; null: neither.'),
  read_from: toolSourceSchema,
  asked_at: instantSchema,
  answered_at: instantSchema.nullable(),
  answered_by: referenceSchema
    .nullable()
    .describe('The tool’s own observation, else the model call that first brought the result.'),
})

const iterationSchema = record('TurnIteration', {
  finding_id: z.uuid().describe('The loop.'),
  number: z.int().positive().describe('Number of the iteration, from 1.'),
  of: z.int().positive().describe('Iterations of the loop.'),
  position: z.int().positive().describe('Position of the step within its iteration, from 1.'),
})

const claimSchema = record('TurnClaim', {
  claim_id: z.uuid(),
  text: z.string(),
  at: z
    .tuple([count, count])
    .describe('UTF-16 offsets in the whole text of the answer: start, end (exclusive).'),
  verdict: z
    .enum(claimVerdicts)
    .meta({ id: 'ClaimVerdict' })
    .describe('Verdict of a person, else of the verifiers.'),
  probability: z
    .number()
    .min(0)
    .max(1)
    .nullable()
    .describe('Probability that the claim is true; null if no verifier decided it.'),
})

/** Maximum claims of an answer in a turn. */
export const claims_max = 100

const verificationSchema = record('TurnVerification', {
  run_id: z.uuid().describe('The newest verified run of the trace.'),
  trace_id: traceIdSchema.describe(
    'The trace to read all claims, values and evidence of: `/api/v1/verification/traces/{trace_id}/claims`.',
  ),
  trust_score: z.number().min(0).max(1).nullable(),
  of_this_text: z
    .boolean()
    .nullable()
    .describe(
      '`false`: the answer changed since the run, so offsets may be wrong; null: the text was cut, ' +
        'so it is unknown.',
    ),
  claims: z
    .array(claimSchema)
    .describe(`Claims in the order of the answer; at most ${claims_max}.`),
  claims_total: count,
})
export type TurnVerification = z.infer<typeof verificationSchema>

const historySchema = record('TurnHistory', {
  sent: z
    .enum(['all', 'only_new', 'unknown'])
    .describe(
      '`all`: the call sent its whole history; `only_new`: only new messages, because the provider ' +
        'holds the others; `unknown`: no messages were recorded.',
    ),
  earlier_messages: count
    .nullable()
    .describe('Messages of the history that earlier turns show; null when unknown.'),
  new_messages: count.describe('Messages that no earlier turn shows.'),
  break: record('TurnHistoryBreak', {
    kind: z
      .enum(['compacted', 'truncated', 'edited', 'reset'])
      .describe(
        '`compacted`: older messages were replaced by a shorter text; `truncated`: older messages ' +
          'are missing; `edited`: a message was changed; `reset`: nothing is left.',
      ),
    lost_messages: count.describe('Earlier messages that are missing now.'),
  })
    .nullable()
    .describe('How the history differs from the previous one of the thread; null if it only grew.'),
})

/** One model call of a task, with what is new in it. */
export const turnSchema = record('Turn', {
  turn: count.describe('Number of the model call in the task, from 0.'),
  step: count
    .nullable()
    .describe('Index of the answer, as `start_step` of findings; null without an answer.'),
  step_number: z.int().positive().nullable().describe('The same answer, counted from 1.'),
  thread: count.describe('`thread` of `threads`.'),
  trace_id: traceIdSchema,
  observation_id: z.string(),
  counted_once: z
    .boolean()
    .describe('Whether the call arrived more than once, and counts once: see `further_records`.'),
  further_records: z
    .array(referenceSchema)
    .describe('Other records of the same call, by another instrument; at most 16.'),
  retry_of: count
    .nullable()
    .describe('`turn` of the failed call that this one repeats; null if it repeats none.'),
  started_at: instantSchema,
  ended_at: instantSchema,
  latency_ms: ms.describe('Time from start to end.'),
  time_to_first_token_ms: ms.nullable().describe('null when the answer was not streamed.'),
  provider: z.string(),
  model: z.string().describe('The model that answered, else the requested one.'),
  status: z.enum(statuses),
  status_code: count.describe('HTTP status that the client got; 0 when unknown.'),
  outcome: callOutcomeSchema.describe('How a proxied call ended; empty for other calls.'),
  finish_reason: z.string(),
  streamed: z.boolean(),
  error: callErrorSchema.describe('Set when the call failed or was cut off.'),
  tokens: callTokensSchema.describe('Disjoint buckets; null where unknown.'),
  cost_usd: dollarsSchema.nullable().describe('null when the model has no known price.'),
  content: recordedContentSchema.describe(
    'How much of the call’s content was recorded. `none`: content is off.',
  ),
  content_state: z
    .enum(['full', 'truncated', 'none', 'dropped', 'expired'])
    .describe(
      'State of the content in the store: `none`: none was sent; `dropped`: not kept, by a limit or ' +
        'the capture policy; `expired`: removed by retention.',
    ),
  history: historySchema,
  messages: z
    .array(messageSchema)
    .describe('New messages in order; of more than the limit the first and the last ones.'),
  messages_left_out: count.describe(
    'New messages that `messages` leaves out after the first ones.',
  ),
  answer: answerSchema.nullable().describe('null without an answer.'),
  tool_uses: z
    .array(toolUseSchema)
    .describe('Tool uses that the turn requested or first had; each one is in exactly one turn.'),
  findings: z.array(z.uuid()).describe('Ids of the findings at this turn, withdrawn ones aside.'),
  iteration: iterationSchema.nullable().describe('Iteration of a loop; null outside of loops.'),
  verification: verificationSchema
    .nullable()
    .describe('Verification of this answer; null if it was not verified.'),
})
export type Turn = z.infer<typeof turnSchema>

/** A thread of a task: a card of its own if it has a parent. */
export const threadSchema = record('TurnThread', {
  thread: count.describe('Number of the thread, from 0.'),
  kind: z
    .enum(['root', 'branch', 'sub_agent'])
    .describe('`branch`: of an edited history; `sub_agent`: another history in parallel.'),
  parent: count
    .nullable()
    .describe('The thread that a branch left, or that a sub-agent works for; null when unknown.'),
  parent_turn: count
    .nullable()
    .describe('The last turn of the parent that began before this thread; null without.'),
  agent_name: z.string().describe('The agent; empty when it has no name.'),
  held: z
    .boolean()
    .describe('Whether the provider holds a part of the history that no call of the task has.'),
  first_turn: count.nullable(),
  last_turn: count.nullable(),
  turns: count,
})
export type TurnThread = z.infer<typeof threadSchema>
