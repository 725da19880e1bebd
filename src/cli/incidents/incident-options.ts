import { severities } from '../../model/severity.ts'
import type { Option } from '../command.ts'
import { yesOrNo } from '../list-options.ts'

/** The options of `incidents` that are parameters of GET /api/v2/observability/incidents. */
export const incidentFilters = {
  state: {
    value: '<state>',
    multiple: true,
    choices: ['open', 'acknowledged', 'resolved'],
    about: 'State.',
  },
  'severity-min': { value: '<severity>', choices: severities, about: 'Least severity.' },
  rule: { value: '<name>', about: 'Rule that contributed.' },
  assignee: { value: '<email>', about: 'Person; `none` for unassigned ones.' },
  suppressed: { value: '<bool>', choices: yesOrNo, about: 'Whether messages are muted.' },
  flapping: { value: '<bool>', choices: yesOrNo, about: 'Whether the incident flaps.' },
  shadow: { value: '<bool>', choices: yesOrNo, about: 'Whether only shadow rules contributed.' },
  label: { value: '<name:value>', about: 'Label.' },
  group: { value: '<name:value>', about: 'Value of a dimension, such as `model:gpt-5`.' },
  from: { value: '<time>', about: 'Opened at or after this instant, or age such as 2h.' },
  to: { value: '<time>', about: 'Opened before this instant, or age.' },
  search: { value: '<text>', about: 'Text in the title, in any case.' },
  sort: {
    value: '<field>',
    choices: ['opened_at', 'updated_at', 'severity', 'number'],
    about: 'Sort field. Default: opened_at.',
  },
  order: { value: '<order>', choices: ['asc', 'desc'], about: 'Default: desc, newest first.' },
} satisfies Readonly<Record<string, Option>>

/** Names of parameters that differ from their option. */
export const incidentParameters: Readonly<Record<string, string>> = {
  from: 'opened_from',
  to: 'opened_to',
  search: 'q',
}
