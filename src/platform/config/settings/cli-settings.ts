import { secret, url } from '../setting.ts'

/** The command line, where it asks the API. */
export const cliSettings = {
  url: url(['http', 'https'], {
    unit: 'URL',
    default: 'http://127.0.0.1:8080',
    reason: 'The API that `looptrace ledger` asks; the default is `make run` on this machine.',
  }),
  api_key: secret({ reason: 'The project key with which the command line asks the API.' }),
}
