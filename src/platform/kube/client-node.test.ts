import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

test('the generated models of the package are not loaded', async () => {
  const script = `
    import { registerHooks } from 'node:module'
    const loaded = []
    registerHooks({
      load: (url, context, next) => {
        loaded.push(url)
        return next(url, context)
      },
    })
    const { KubeConfig } = await import('${new URL('client-node.ts', import.meta.url).href}')
    new KubeConfig().loadFromString(JSON.stringify({
      clusters: [{ name: 'a', cluster: { server: 'http://localhost:1' } }],
      contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
      users: [{ name: 'a', user: {} }],
      'current-context': 'a',
    }))
    console.log(JSON.stringify(loaded.filter((url) => url.includes('client-node'))))
  `
  const run = promisify(execFile)
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script])
  const loaded: string[] = JSON.parse(stdout)
  expect(loaded.some((url) => url.endsWith('/client-node/dist/config.js'))).toBe(true)
  expect(loaded.filter((url) => /gen\/(?:models|apis|types)\//.test(url))).toEqual([])
})
