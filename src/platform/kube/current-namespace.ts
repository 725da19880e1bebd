import { KubeConfig } from '@kubernetes/client-node'

/** The namespace of the current context, which a command without `-n` means. */
export function currentNamespace(): string {
  const config = new KubeConfig()
  config.loadFromDefault()
  return config.getContextObject(config.getCurrentContext())?.namespace ?? 'default'
}
