package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/embed"
	"go.opentelemetry.io/otel/trace/noop"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver"
	crdoptions "k8s.io/apiextensions-apiserver/pkg/cmd/server/options"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/group"
	"k8s.io/apiserver/pkg/authentication/request/bearertoken"
	"k8s.io/apiserver/pkg/authentication/token/tokenfile"
	"k8s.io/apiserver/pkg/endpoints/discovery/aggregated"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	genericapiserver "k8s.io/apiserver/pkg/server"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/component-base/compatibility"
)

// kubernetesVersion is the release whose parts these are.
const kubernetesVersion = "1.35"

type serverOptions struct {
	dataDir, tokenFile string
	port               int
}

type server struct {
	generic *genericapiserver.GenericAPIServer
	url     string
}

func newServer(options serverOptions, etcd *embed.Etcd) (*server, error) {
	// A compaction is to show at once: else lists go on from a snapshot for a while.
	if err := utilfeature.DefaultMutableFeatureGate.Set("ListFromCacheSnapshot=false"); err != nil {
		return nil, err
	}
	recommended, url, err := recommendedOptions(options, etcd)
	if err != nil {
		return nil, err
	}
	config, err := genericConfig(recommended, options)
	if err != nil {
		return nil, err
	}
	builtinEtcd := etcdOptions("/registry", etcd)
	builtinEtcd.StorageConfig.Codec = builtinCodecs.LegacyCodec(builtinVersions()...)
	getter := builtinEtcd.CreateRESTOptionsGetter(
		&genericoptions.SimpleStorageFactory{StorageConfig: builtinEtcd.StorageConfig}, nil)
	made, err := stores(getter)
	if err != nil {
		return nil, err
	}
	config.Authorization.Authorizer = &rbacAuthorizer{made}
	gate, err := newGate(made["namespaces"])
	if err != nil {
		return nil, err
	}
	policies, err := newPolicies(config.LoopbackClientConfig, &rbacAuthorizer{made})
	if err != nil {
		return nil, err
	}
	config.AdmissionControl = admission.NewChainHandler(gate, policies)
	crds, err := customResources(config, recommended)
	if err != nil {
		return nil, err
	}
	generic := crds.GenericAPIServer
	if err := installBuiltins(generic, made); err != nil {
		return nil, err
	}
	if err := installAccessReviews(generic, &rbacAuthorizer{made}); err != nil {
		return nil, err
	}
	if err := policies.start(generic); err != nil {
		return nil, err
	}
	serveDiscovery(crds)
	generic.Handler.NonGoRestfulMux.Handle("/test/compact", compactor(etcd))
	return &server{generic, url}, nil
}

func etcdOptions(prefix string, etcd *embed.Etcd) *genericoptions.EtcdOptions {
	codec := apiserver.Codecs.LegacyCodec(apiextensionsv1beta1.SchemeGroupVersion, apiextensionsv1.SchemeGroupVersion)
	options := genericoptions.NewEtcdOptions(storagebackend.NewDefaultConfig(prefix, codec))
	options.StorageConfig.Transport.ServerList = []string{etcd.Clients[0].Addr().String()}
	return options
}

func recommendedOptions(options serverOptions, etcd *embed.Etcd) (*genericoptions.RecommendedOptions, string, error) {
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", options.port))
	if err != nil {
		return nil, "", err
	}
	recommended := genericoptions.NewRecommendedOptions("/registry/apiextensions.kubernetes.io", nil)
	recommended.Etcd = etcdOptions("/registry/apiextensions.kubernetes.io", etcd)
	recommended.Authentication, recommended.Authorization = nil, nil
	recommended.Admission, recommended.CoreAPI, recommended.Audit = nil, nil, nil
	recommended.Features.EnablePriorityAndFairness = false
	recommended.SecureServing.Listener = listener
	recommended.SecureServing.BindAddress = net.ParseIP("127.0.0.1")
	recommended.SecureServing.ServerCert.CertDirectory = ""
	err = recommended.SecureServing.MaybeDefaultWithSelfSignedCerts("localhost", nil, []net.IP{net.ParseIP("127.0.0.1")})
	return recommended, "https://" + listener.Addr().String(), err
}

func genericConfig(recommended *genericoptions.RecommendedOptions, options serverOptions) (*genericapiserver.RecommendedConfig, error) {
	config := genericapiserver.NewRecommendedConfig(apiserver.Codecs)
	if err := genericoptions.NewServerRunOptions().ApplyTo(&config.Config); err != nil {
		return nil, err
	}
	if err := recommended.ApplyTo(config); err != nil {
		return nil, err
	}
	config.EffectiveVersion = compatibility.NewEffectiveVersionFromString(kubernetesVersion, "", "")
	enablement := genericoptions.NewAPIEnablementOptions()
	if err := enablement.ApplyTo(&config.Config, apiserver.DefaultAPIResourceConfigSource(), apiserver.Scheme); err != nil {
		return nil, err
	}
	namer := openapinamer.NewDefinitionNamer(apiserver.Scheme, builtinScheme, scheme.Scheme)
	config.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(openAPIDefinitions, namer)
	config.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(openAPIDefinitions, namer)
	config.OpenAPIConfig.Info.Title, config.OpenAPIV3Config.Info.Title = "Kubernetes", "Kubernetes"
	tokens, err := tokenfile.NewCSV(options.tokenFile)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", options.tokenFile, err)
	}
	config.Authentication.Authenticator = group.NewAuthenticatedGroupAdder(
		authenticator.Request(bearertoken.New(tokens)))
	return config, nil
}

func customResources(config *genericapiserver.RecommendedConfig, recommended *genericoptions.RecommendedOptions) (*apiserver.CustomResourceDefinitions, error) {
	extra := apiserver.ExtraConfig{
		CRDRESTOptionsGetter: crdoptions.NewCRDRESTOptionsGetter(*recommended.Etcd, config.ResourceTransformers, config.StorageObjectCountTracker),
		MasterCount:          1,
		ServiceResolver:      noServices{},
		AuthResolverWrapper:  webhook.NewDefaultAuthenticationInfoResolverWrapper(nil, nil, config.LoopbackClientConfig, noop.NewTracerProvider()),
	}
	crds := apiserver.Config{GenericConfig: config, ExtraConfig: extra}
	return crds.Complete().New(genericapiserver.NewEmptyDelegate())
}

// serveDiscovery answers /apis, which apiextensions leaves to the server in front of it.
func serveDiscovery(crds *apiserver.CustomResourceDefinitions) {
	generic := crds.GenericAPIServer
	wrapped := aggregated.WrapAggregatedDiscoveryToHandler(
		generic.DiscoveryGroupManager, generic.AggregatedDiscoveryGroupManager, nil)
	generic.Handler.GoRestfulContainer.Add(wrapped.GenerateWebService("/apis", metav1.APIGroupList{}))
}

// compactor drops etcd's history, so that clients which ask for older versions are told 410.
func compactor(etcd *embed.Etcd) http.Handler {
	return http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		revision := etcd.Server.KV().Rev()
		_, err := etcd.Server.Compact(request.Context(), &etcdserverpb.CompactionRequest{Revision: revision, Physical: true})
		if err != nil {
			http.Error(answer, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprintln(answer, revision)
	})
}

type noServices struct{}

func (noServices) ResolveEndpoint(namespace, name string, _ int32) (*url.URL, error) {
	return nil, fmt.Errorf("service %s/%s: this server has no services to call", namespace, name)
}

const readyPoll = 20 * time.Millisecond

// whenReady calls once the server says of itself that it is ready.
func (s *server) whenReady(call func(url string)) {
	_ = s.generic.AddPostStartHook("say-ready", func(hook genericapiserver.PostStartHookContext) error {
		go func() {
			client, err := clientOf(s.generic)
			for err == nil && hook.Err() == nil {
				if client.Get().AbsPath("/readyz").Do(hook).Error() == nil {
					call(s.url)
					return
				}
				time.Sleep(readyPoll)
			}
		}()
		return nil
	})
}

func (s *server) run(ctx context.Context) error {
	return s.generic.PrepareRun().RunWithContext(ctx)
}
