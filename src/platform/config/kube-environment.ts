import { homedir } from 'node:os'

/** The environment of a Kubernetes client. These variables are not settings of Looptrace. */
export type KubeEnvironment = {
  /** `KUBECONFIG`: paths of files. */
  kubeconfig: string | undefined
  home: string
  /** Folder with the token, the CA and the namespace of a pod. */
  service_account: string
  /** Address of the API server, as Kubernetes gives it to pods. */
  service_host: string | undefined
  service_port: string | undefined
  /** All variables, for plugins. */
  variables: Readonly<Record<string, string | undefined>>
}

/** Reads the environment of this process. */
export function kubeEnvironment(
  variables: KubeEnvironment['variables'] = process.env,
): KubeEnvironment {
  return {
    kubeconfig: variables['KUBECONFIG'] || undefined,
    home: homedir(),
    service_account: '/var/run/secrets/kubernetes.io/serviceaccount',
    service_host: variables['KUBERNETES_SERVICE_HOST'],
    service_port: variables['KUBERNETES_SERVICE_PORT'],
    variables,
  }
}
