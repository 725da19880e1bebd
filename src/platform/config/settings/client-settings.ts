import { integer, minutes, seconds, secret, text, url } from '../setting.ts'

/** Settings of commands that call the API. */
export const cliSettings = {
  url: url(['http', 'https'], {
    unit: 'URL',
    default: 'http://127.0.0.1:8080',
    reason: 'API that the command line uses. The default is `make run` on this machine.',
  }),
  proxy_url: url(['http', 'https'], {
    unit: 'URL',
    reason: 'Proxy that `looptrace doctor` checks. When unset, it is where the API is.',
  }),
  api_key: secret({ reason: 'Key of a project or of a service account, for the command line.' }),
  access_token: secret({
    reason:
      'Access token of a person, for the command line without a key. `looptrace rules apply` needs that of a project admin: rules are changed by people, not by keys.',
  }),
  project_id: text({
    unit: 'UUID',
    reason:
      'Project of the access token. When unset, it is the only project that the token can see.',
  }),
}

/** Settings of the smoke test. */
export const smokeSettings = {
  smoke_proxy_url: url(['http', 'https'], {
    unit: 'URL',
    default: 'http://127.0.0.1:8080',
    reason: 'Proxy that receives the completions and spans of the test.',
  }),
  smoke_api_url: url(['http', 'https'], {
    unit: 'URL',
    default: 'http://127.0.0.1:8080',
    reason: 'API that the test reads the records from.',
  }),
  smoke_project_key: secret({
    reason:
      'Project key with the default scopes. The test sends and reads completions and spans with it.',
  }),
  smoke_provider_host: text({
    unit: 'address',
    default: '127.0.0.1',
    reason: 'Address of the scripted provider, which `scripted_base_url` of the proxy must name.',
  }),
  smoke_provider_port: integer({
    unit: 'port',
    default: 8090,
    min: 1,
    max: 65_535,
    reason: 'Port of the scripted provider.',
  }),
  smoke_wait_ms_max: integer({
    unit: 'ms',
    default: minutes,
    min: seconds,
    max: 30 * minutes,
    reason: 'Maximum time for the service to start, and for the records to become readable.',
  }),
}
