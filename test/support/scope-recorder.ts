import { AsyncLocalStorage } from 'node:async_hooks'
import type { KyselyPlugin, PluginTransformQueryArgs, PluginTransformResultArgs } from 'kysely'
import { currentScope, type TenantScope } from '../../src/platform/tenancy/index.ts'

/** A statement that ran: in which work, in which scope, and its text, shortened. */
type RecordedStatement = { work: string | undefined; scope: TenantScope | undefined; text: string }

const text_max = 200

/** Records the scope of each statement of a handle: `db.withPlugin(recorder)`. */
export class ScopeRecorder implements KyselyPlugin {
  readonly statements: RecordedStatement[] = []
  readonly #works = new AsyncLocalStorage<string>()

  /** Runs work under a name, which its timers and promises keep. */
  within<T>(work: string, run: () => T): T {
    return this.#works.run(work, run)
  }

  /** Returns the statements of a work. */
  of(work: string): RecordedStatement[] {
    return this.statements.filter((one) => one.work === work)
  }

  transformQuery({ node }: PluginTransformQueryArgs): PluginTransformQueryArgs['node'] {
    const text = node.kind === 'RawNode' ? rawText(node) : JSON.stringify(node)
    const work = this.#works.getStore()
    this.statements.push({ work, scope: currentScope(), text: text.slice(0, text_max) })
    return node
  }

  async transformResult({ result }: PluginTransformResultArgs) {
    return result
  }
}

function rawText(node: object): string {
  const { sqlFragments = [] } = node as { sqlFragments?: readonly string[] }
  return sqlFragments.join('?').replace(/\s+/g, ' ').trim()
}
