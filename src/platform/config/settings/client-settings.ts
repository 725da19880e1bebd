import { integer, minutes, seconds, secret, text, url } from '../setting.ts'

/** The command line, where it asks the API. */
export const cliSettings = {
  url: url(['http', 'https'], {
    unit: 'URL',
    default: 'http://127.0.0.1:8080',
    reason: 'The API that `looptrace ledger` asks; the default is `make run` on this machine.',
  }),
  api_key: secret({ reason: 'The project key with which the command line asks the API.' }),
}

/** The test of an installation. */
export const smokeSettings = {
  smoke_proxy_url: url(['http', 'https'], {
    unit: 'URL',
    default: 'http://127.0.0.1:8080',
    reason: 'Where completions and spans are sent to.',
  }),
  smoke_api_url: url(['http', 'https'], {
    unit: 'URL',
    default: 'http://127.0.0.1:8080',
    reason: 'Where they are read back.',
  }),
  smoke_project_key: secret({
    reason: 'Key with the scopes of a first key: it sends completions and spans, and reads both.',
  }),
  smoke_provider_host: text({
    unit: 'address',
    default: '127.0.0.1',
    reason: 'Where the scripted provider listens, which the proxy has to find by its setting.',
  }),
  smoke_provider_port: integer({
    unit: 'port',
    default: 8090,
    min: 1,
    max: 65_535,
    reason: 'Its port.',
  }),
  smoke_wait_ms_max: integer({
    unit: 'ms',
    default: minutes,
    min: seconds,
    max: 30 * minutes,
    reason: 'How long the service may take to come up, and what was sent to be readable.',
  }),
}
