import { openKeys } from '../capabilities/access/index.ts'
import { otlpRoutes } from '../capabilities/edge/otlp/index.ts'
import { proxyRoutes } from '../capabilities/edge/proxy/index.ts'
import type { RoleConfig } from '../platform/config/index.ts'
import { openOtlp, openProxy, openRecorder } from './edge.ts'
import { openIntake } from './intake.ts'
import { listen } from './listen.ts'
import { openClusterQueue, withFileSpool } from './queues.ts'
import { type Running, run } from './running.ts'
import { openPostgres } from './stores.ts'

/** Starts role `proxy`, the data plane. It serves completions even while every store is down. */
export function startProxy(config: RoleConfig<'proxy'>, stop: AbortSignal): Promise<Running> {
  return run('proxy', config, stop, async (context) => {
    const { clock, parts, checks } = context
    const relational = openPostgres(context, config)
    const { keys, close } = openKeys({
      db: relational.db,
      clock,
      limits: {
        ttl_ms: config.proxy_key_cache_ttl_ms,
        stale_ms: config.proxy_key_cache_stale_ms,
        entries_max: config.proxy_key_cache_entries_max,
      },
    })
    parts.defer(close)
    const queue = await withFileSpool(context, config, {
      queue: await openClusterQueue(context, config),
      role: 'proxy',
    })
    const intake = openIntake(context, config, { queue, db: relational.db })
    const recorder = openRecorder(context, config, { queue, intake })
    const proxy = openProxy(context, config, { keys, recorder })
    checks.push({ name: 'queue', check: async () => ((await queue.ready()) ? null : 'full') })
    const otlp = await openOtlp(context, config, { keys, intake })
    const routes = [...proxyRoutes(proxy), ...otlpRoutes(otlp.receiver)]
    await listen(context, config, { routes, proxy, otlp })
  })
}
