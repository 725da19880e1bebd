import type { ApiServerFiles, ApiServerProcess } from './api-server-run.ts'
import { type ChildServer, endChildServer, startChildServer } from './child-server.ts'
import { tell } from './kube-request.ts'
import { launchStockServers } from './stock-api-server.ts'
import { ownApiServer, stockServers } from './tools.ts'

const start_timeout_ms = 60_000

/** Starts the stock servers if `KUBEBUILDER_ASSETS` is set, else the server of `test/apiserver`. */
export async function launchApiServer(files: ApiServerFiles): Promise<ApiServerProcess> {
  const stock = stockServers()
  if (stock !== undefined) return launchStockServers(stock, files)
  const { directory, token_file, admin_token, port } = files
  const args = ['-data-dir', directory, '-token-file', token_file, '-port', String(port)]
  const child = startChildServer(await ownApiServer(), args)
  const url = await urlIn(child)
  return {
    url,
    pid: child.process.pid ?? 0,
    end: (signal) => endChildServer(child, signal),
    compact: async () => {
      await tell({ url, token: admin_token }, 'GET', '/test/compact')
    },
  }
}

/** The first line that it writes when it is ready. */
async function urlIn(child: ChildServer): Promise<string> {
  const ready = Promise.withResolvers<string>()
  const timer = setTimeout(() => ready.reject(new Error('not in time')), start_timeout_ms)
  child.process.once('exit', () => ready.reject(new Error('it ended')))
  let text = ''
  child.process.stdout?.on('data', (chunk) => {
    text += chunk
    if (text.includes('\n')) ready.resolve(text)
  })
  try {
    return JSON.parse(await ready.promise).url
  } catch (cause) {
    child.process.kill('SIGKILL')
    throw new Error(`the API server did not start:\n${child.log()}`, { cause })
  } finally {
    clearTimeout(timer)
  }
}
