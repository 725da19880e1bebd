import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { routeCatalogue } from '../../src/roles/catalogues.ts'

const guide = await readFile('docs/guides/check-what-your-agent-claims.md', 'utf8')

const variables: Record<string, string> = {
  $LOOPTRACE_URL: '',
  $V: '/api/v1/verification',
  $R: '/api/v2/observability/incidents/rules',
}

/** A call of the guide: method, path without query, and body. */
type Call = { method: string; path: string; body: unknown }

const calls = [...guide.matchAll(/^```sh\n([\s\S]*?)^```/gm)].flatMap(([, shell = '']) =>
  [...shell.matchAll(/curl -s (?:-X (\w+) )?"([^"]+)"((?:(?!curl -s)[\s\S])*)/g)].map(readCall),
)

function readCall([, given, url = '', rest = '']: RegExpMatchArray): Call {
  const path = url.replace(/^\$\w+/, (name) => variables[name] ?? name).replace(/\?.*$/, '')
  const [, data] = /-d '([^']*)'/.exec(rest) ?? []
  const method = given ?? (data === undefined ? 'GET' : 'POST')
  return { method, path, body: data === undefined ? undefined : JSON.parse(data) }
}

test('the guide has a call for each step', () => {
  expect(calls.length).toBeGreaterThanOrEqual(15)
})

test.each(calls)('$method $path of the guide is a route that accepts its body', (call) => {
  const route = routeCatalogue().find(
    (one) => one.kind === 'api' && one.method === call.method && matches(one.url, call.path),
  )
  if (route?.kind !== 'api') throw new Error('no route')
  if (call.body === undefined) return
  const read = route.body?.safeParse(call.body)
  expect([read?.success, read?.error?.issues]).toEqual([true, undefined])
})

function matches(url: string, path: string): boolean {
  const [parts, given] = [url.split('/'), path.split('/')]
  const isSame = (part: string, at: number) => {
    const isVariable = part.startsWith('{') && given[at] !== ''
    return isVariable ? !isStatic(given[at] ?? '') : part === given[at]
  }
  return parts.length === given.length && parts.every(isSame)
}

/** Variables of the shell and names of tasks stand for ids; other words are parts of a path. */
function isStatic(part: string): boolean {
  return !part.startsWith('$') && !/-\d+$/.test(part)
}
