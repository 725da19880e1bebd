import { authorizer } from '../capabilities/access/index.ts'
import type { RoleConfig } from '../platform/config/index.ts'
import { openIdempotencyStore } from '../platform/relational/index.ts'
import { openControl } from './control.ts'
import { openJudge } from './detection.ts'
import { openIntake } from './intake.ts'
import { listen } from './listen.ts'
import { openClusterQueue, withFileSpool } from './queues.ts'
import { type Running, run } from './running.ts'
import { openStores } from './stores.ts'

/** Starts role `api`, the control plane: the product APIs. */
export function startApi(config: RoleConfig<'api'>, stop: AbortSignal): Promise<Running> {
  return run('api', config, stop, async (context) => {
    const stores = openStores(context, config)
    const queue = await openClusterQueue(context, config)
    const spooled = await withFileSpool(context, config, { queue, role: 'api' })
    const intake = openIntake(context, config, { queue: spooled, db: stores.db })
    const { access, routes } = openControl(context, config, {
      ...{ ...stores, queue, intake },
      judge: openJudge(context, config, stores),
    })
    await listen(context, config, {
      routes,
      authorize: authorizer(access),
      idempotency: openIdempotencyStore(stores.db),
    })
  })
}
