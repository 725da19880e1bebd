import { smokeTest } from '../capabilities/demo/index.ts'
import { ConfigError, type RoleConfig } from '../platform/config/index.ts'
import { print } from './running.ts'

/**
 * Tests an installation: sends a completion and a span, reads both back, and plays the seeded
 * scenario. Exit status 0 on success. `helm test` runs this.
 */
export async function runSmokeTest(config: RoleConfig<'smoke-test'>): Promise<number> {
  const { smoke_project_key: project_key } = config
  if (project_key === undefined) {
    throw new ConfigError('LOOPTRACE_SMOKE_PROJECT_KEY: missing, expected a project key (lt_…)')
  }
  await smokeTest({
    proxy_url: config.smoke_proxy_url,
    api_url: config.smoke_api_url,
    project_key,
    provider: { host: config.smoke_provider_host, port: config.smoke_provider_port },
    wait_ms_max: config.smoke_wait_ms_max,
    log: (done) => print({ done }),
  })
  print({ smoke_test: 'passed' })
  return 0
}
