import { findingKinds } from '../../model/finding-kind.ts'
import { severities } from '../../model/severity.ts'
import type { Option } from '../command.ts'
import { yesOrNo } from '../list-options.ts'

/** The filters of tasks; each is the parameter of GET /api/v1/tasks with its name in snake case. */
export const taskFilters = {
  state: { value: '<state>', choices: ['running', 'completed', 'failed'], about: 'State.' },
  stalled: { value: '<bool>', choices: yesOrNo, about: 'Whether the task is stalled.' },
  name: { value: '<name>', about: 'Exact name.' },
  search: { value: '<text>', about: 'Start of the name, in any case.' },
  'user-id': { value: '<id>', about: 'User.' },
  'conversation-id': { value: '<id>', about: "Conversation: UUID or the client's own id." },
  model: { value: '<model>', about: 'Model that answered.' },
  environment: { value: '<name>', about: 'Environment.' },
  release: { value: '<name>', about: 'Release.' },
  'cluster-name': { value: '<name>', about: 'Kubernetes cluster.' },
  implicit: { value: '<bool>', choices: yesOrNo, about: 'Whether calls have no X-Task-ID.' },
  'has-errors': { value: '<bool>', choices: yesOrNo, about: 'Whether a call failed.' },
  'severity-min': {
    value: '<severity>',
    choices: severities,
    about: 'Least severity of a finding.',
  },
  'finding-kind': { value: '<kind>', choices: findingKinds, about: 'Kind of a finding.' },
  'finding-type': { value: '<type>', about: 'Type of a finding, such as `repeat_call`.' },
  'cost-usd-min': { value: '<usd>', about: 'Least cost in US dollars.' },
  'total-tokens-min': { value: '<n>', about: 'Least tokens.' },
  'duration-ms-min': { value: '<ms>', about: 'Least duration in milliseconds.' },
  feedback: {
    value: '<vote>',
    choices: ['positive', 'negative'],
    about: 'A vote of an end user.',
  },
  'wasted-tokens-min': { value: '<n>', about: 'Least wasted tokens.' },
  'wasted-cost-usd-min': { value: '<usd>', about: 'Least wasted US dollars.' },
  'trust-min': { value: '<score>', about: 'Least trust score, 0–1.' },
  'trust-max': { value: '<score>', about: 'Greatest trust score, 0–1.' },
  'verification-state': {
    value: '<state>',
    choices: ['not_verified', 'pending', 'verified', 'failed'],
    about: 'State of the newest verification.',
  },
} satisfies Readonly<Record<string, Option>>

/** The options of `tasks` that order the list and bound it in time. */
export const taskOrder = {
  from: { value: '<time>', about: 'Last activity at or after this instant, or age such as 2h.' },
  to: { value: '<time>', about: 'Start before this instant, or age.' },
  sort: {
    value: '<field>',
    choices: [
      ...['last_activity_at', 'started_at', 'cost_usd', 'total_tokens', 'calls', 'duration_ms'],
      ...['worst_severity', 'wasted_tokens', 'wasted_cost_usd', 'trust_score'],
    ],
    about: 'Sort field. Default: last_activity_at.',
  },
  order: { value: '<order>', choices: ['asc', 'desc'], about: 'Default: desc, newest first.' },
} satisfies Readonly<Record<string, Option>>

/** Names of parameters that differ from their option. */
export const taskParameters: Readonly<Record<string, string>> = { search: 'q' }
