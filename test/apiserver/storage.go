package main

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/storage"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// resourceStore is a store that kubectl knows by short names too.
type resourceStore struct {
	*genericregistry.Store
	shortNames []string
}

func (s resourceStore) ShortNames() []string { return s.shortNames }

// statusStore is the status subresource of a store.
type statusStore struct{ store *genericregistry.Store }

func (s statusStore) New() runtime.Object { return s.store.New() }
func (s statusStore) Destroy()            {}

func (s statusStore) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	return s.store.Get(ctx, name, options)
}

func (s statusStore) Update(ctx context.Context, name string, object rest.UpdatedObjectInfo, createValidation rest.ValidateObjectFunc, updateValidation rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	return s.store.Update(ctx, name, object, createValidation, updateValidation, false, options)
}

func (s statusStore) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return s.store.UpdateStrategy.(strategy).GetResetFields()
}

func (s statusStore) ConvertToTable(ctx context.Context, object runtime.Object, options runtime.Object) (*metav1.Table, error) {
	return s.store.ConvertToTable(ctx, object, options)
}

// stores makes a store for each built-in, by the plural.
func stores(getter generic.RESTOptionsGetter) (map[string]*genericregistry.Store, error) {
	made := map[string]*genericregistry.Store{}
	for _, one := range builtins {
		resource := one.version.WithResource(one.plural).GroupResource()
		store := &genericregistry.Store{
			NewFunc:                   func() runtime.Object { return newOf(one.object) },
			NewListFunc:               func() runtime.Object { return newOf(one.list) },
			PredicateFunc:             predicateOf,
			DefaultQualifiedResource:  resource,
			SingularQualifiedResource: one.version.WithResource(one.singular).GroupResource(),
			CreateStrategy:            strategyOf(one, false),
			UpdateStrategy:            strategyOf(one, false),
			DeleteStrategy:            strategyOf(one, false),
			ResetFieldsStrategy:       strategyOf(one, false),
			TableConvertor:            rest.NewDefaultTableConvertor(resource),
			EnableGarbageCollection:   true,
		}
		options := &generic.StoreOptions{RESTOptions: getter, AttrFunc: attributesOf}
		if err := store.CompleteWithOptions(options); err != nil {
			return nil, fmt.Errorf("%s: %w", resource, err)
		}
		made[resource.String()] = store
	}
	return made, nil
}

// installBuiltins serves every group of the table on the server.
func installBuiltins(server *genericapiserver.GenericAPIServer, made map[string]*genericregistry.Store) error {
	for _, version := range builtinVersions() {
		info := genericapiserver.NewDefaultAPIGroupInfo(version.Group, builtinScheme, metav1.ParameterCodec, builtinCodecs)
		storages := map[string]rest.Storage{}
		for _, one := range builtins {
			if one.version != version {
				continue
			}
			store := made[one.version.WithResource(one.plural).GroupResource().String()]
			storages[one.plural] = resourceStore{store, one.shortNames}
			if one.hasStatus {
				status := *store
				status.UpdateStrategy = strategyOf(one, true)
				storages[one.plural+"/status"] = statusStore{&status}
			}
		}
		info.VersionedResourcesStorageMap[version.Version] = storages
		install := server.InstallAPIGroup
		if version.Group == "" {
			install = func(info *genericapiserver.APIGroupInfo) error {
				return server.InstallLegacyAPIGroup(genericapiserver.DefaultLegacyAPIPrefix, info)
			}
		}
		if err := install(&info); err != nil {
			return fmt.Errorf("%s: %w", version, err)
		}
	}
	return nil
}

func predicateOf(label labels.Selector, field fields.Selector) storage.SelectionPredicate {
	return storage.SelectionPredicate{Label: label, Field: field, GetAttrs: attributesOf}
}

func attributesOf(object runtime.Object) (labels.Set, fields.Set, error) {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return nil, nil, err
	}
	return accessor.GetLabels(), fields.Set{
		"metadata.name":      accessor.GetName(),
		"metadata.namespace": accessor.GetNamespace(),
	}, nil
}
