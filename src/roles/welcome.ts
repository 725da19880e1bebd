import { resolve } from 'node:path'
import type { BootstrapSecrets } from '../capabilities/access/index.ts'

/** In the data folder, mode 0600: the key and login of the first start. */
export const firstLoginFile = 'first-login.json'

/**
 * Renders the greeting of role `all` for a terminal of 80 columns: the address, the first login, the
 * data folder and a call to paste.
 */
export function welcome(about: {
  base_url: string
  data_directory: string
  firstLogin: BootstrapSecrets | undefined
  /** Whether the sample run is about to be played. */
  has_sample: boolean
}): string {
  const { base_url, firstLogin, has_sample } = about
  const folder = resolve(about.data_directory)
  const login =
    firstLogin === undefined
      ? [
          `Data       ${folder}`,
          `           key and login are in ${firstLoginFile}, from the first start`,
        ]
      : [
          `Key        ${firstLogin.project_key}`,
          `Login      ${firstLogin.admin_email}`,
          `Password   ${firstLogin.admin_password}`,
          `Data       ${folder}`,
          `           key and login are shown once, and kept in ${firstLoginFile}`,
        ]
  const key = firstLogin?.project_key ?? `$(grep -o 'lt_\\w*' '${folder}/${firstLoginFile}')`
  const sample = has_sample ? '\nTwo sample agents run now; what is found in them follows.\n' : ''
  return `
Looptrace is ready.

  Base URL   ${base_url}
${login.map((line) => `  ${line}\n`).join('')}
Send a first call from another terminal, with your own provider key:

  export LOOPTRACE_URL=${base_url}
  export LOOPTRACE_API_KEY=${key}
  curl $LOOPTRACE_URL/v1/chat/completions \\
    -H "X-API-Key: $LOOPTRACE_API_KEY" \\
    -H "Authorization: Bearer $OPENAI_API_KEY" \\
    -H 'Content-Type: application/json' -H 'X-Task-ID: my-first-task' \\
    -d '{"model":"gpt-4.1-mini","messages":[{"role":"user","content":"Hello"}]}'

and look at it:

  curl $LOOPTRACE_URL/api/v1/tasks/my-first-task \\
    -H "X-API-Key: $LOOPTRACE_API_KEY"
${sample}
`
}
