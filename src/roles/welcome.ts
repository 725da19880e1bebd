import type { BootstrapSecrets } from '../capabilities/access/index.ts'

/** In the data directory, mode 0600: what was printed at the first start. */
export const firstLoginFile = 'first-login.json'

/** What role `all` prints when it takes requests: where it is, the first login, a call to paste. */
export function welcome(about: {
  base_url: string
  data_directory: string
  firstLogin: BootstrapSecrets | undefined
}): string {
  const { base_url, data_directory, firstLogin } = about
  const file = `${data_directory}/${firstLoginFile}`
  const login =
    firstLogin === undefined
      ? [`Key and login   in ${file} (mode 0600), from the first start`]
      : [
          `Project key     ${firstLogin.project_key}`,
          `Login           ${firstLogin.admin_email}`,
          `Password        ${firstLogin.admin_password}`,
          `                shown once; also in ${file} (mode 0600)`,
        ]
  const key = firstLogin?.project_key ?? 'lt_…'
  return `
Looptrace is ready.

Base URL        ${base_url}
${login.join('\n')}

A first call, with your own provider key:

  curl ${base_url}/v1/chat/completions \\
    -H 'X-API-Key: ${key}' \\
    -H "Authorization: Bearer $OPENAI_API_KEY" \\
    -H 'Content-Type: application/json' -H 'X-Task-ID: my-first-task' \\
    -d '{"model":"gpt-4.1-mini","messages":[{"role":"user","content":"Hello"}]}'

The openai package needs two changes:

  new OpenAI({ baseURL: '${base_url}/v1', defaultHeaders: { 'X-API-Key': '${key}' } })

Then look at it:

  curl ${base_url}/api/v1/tasks -H 'X-API-Key: ${key}'

`
}
