import { registryPath } from './chart/registry.ts'
import { chromiumPath } from './chromium.ts'
import { gitopsHealthPath } from './kube/gitops-health.ts'
import { helmPath, ownApiServer } from './kube/tools.ts'
import { natsServerPath } from './nats.ts'
import { testPython } from './python.ts'
import { s3ServerPath } from './s3-server.ts'

/**
 * Starts to build the tools that are not cached yet, while the first test files run. A test that
 * needs one waits for it and reports its error, so errors are ignored here.
 */
export function setup(): void {
  void (async () => {
    const servers = [natsServerPath, ownApiServer, s3ServerPath, registryPath]
    const tools = [...servers, helmPath, testPython, gitopsHealthPath, chromiumPath]
    for (const build of tools) {
      await build().catch(() => undefined)
    }
  })()
}
