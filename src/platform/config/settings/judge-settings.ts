import { integer, secret, text, url } from '../setting.ts'
import { minutes, seconds } from './units.ts'

/** The model that may be asked about lost context. */
export const judgeSettings = {
  judge_url: url(['https', 'http'], {
    unit: 'URL',
    reason:
      'Base of an OpenAI-compatible endpoint that is sent what users asked for and what the agent answered, to judge it; nothing is sent when unset. The same in API and worker.',
  }),
  judge_model: text({ unit: 'model', reason: 'Who judges; must be set where the URL is.' }),
  judge_api_key: secret({ reason: 'Bearer token for the endpoint; none is sent when unset.' }),
  judge_allowed_hosts: text({
    unit: 'hosts',
    reason:
      'Separated by commas: hosts of the judge that may have a private address. Others must be public.',
  }),
  judge_timeout_ms: integer({
    unit: 'ms',
    default: 20 * seconds,
    min: 100,
    max: minutes,
    reason:
      'A judge that has not answered by then has failed; findings of rules never wait for it.',
  }),
  judge_cents_per_million_tokens: integer({
    unit: 'US cents',
    default: 1_000,
    min: 1,
    max: 1_000_000,
    reason:
      'What a token may cost, read or written: with it a question is booked before it is asked. The default is above what most models take.',
  }),
  judge_cents_per_day_max: integer({
    unit: 'US cents',
    default: 100,
    min: 0,
    max: 10_000_000,
    reason: 'What one project may spend on the judge in a day (UTC); above, it is not asked.',
  }),
}
