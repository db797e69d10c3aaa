package capability

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIdentity(t *testing.T) {
	for _, text := range []string{
		"xmd.core/File.read@1",
		"xmd.core/Json@1",
		"com.example-1.tools/Look@42",
		"a/b_1.C@999999",
		strings.Repeat("o", maxIdentityPart) + "/" + strings.Repeat("k", maxIdentityPart) + "@1",
	} {
		id, err := ParseIdentity(text)
		require.NoError(t, err, text)
		require.NoError(t, id.validate())
		require.Equal(t, text, id.String())
	}
	id, err := ParseIdentity("xmd.core/File.read@2")
	require.NoError(t, err)
	require.Equal(t, Identity{"xmd.core", "File.read", 2}, id)

	for _, text := range []string{
		"", "/", "@", "xmd.core", "xmd.core/File.read", "xmd.core/File.read@", "/File.read@1", "xmd.core/@1",
		"xmd.core/File.read@0", "xmd.core/File.read@-1", "xmd.core/File.read@+1", "xmd.core/File.read@01",
		"xmd.core/File.read@1.0", "xmd.core/File.read@1 ", "xmd.core/File.read@1000000", "xmd.core/File.read@99999999999999999999",
		"xmd.core/File.read@\u0661", "Xmd.core/File.read@1", "xmd:text/File@1", "xmd.core/File:read@1", "xmd..core/File@1",
		".xmd/File@1", "xmd./File@1", "xmd.core/File.@1", "xmd.core/.read@1", "xmd.core/Fi le@1", "xmd.core/File@read@1",
		"xmd.core/File/read@1", "xmd.core/File\x00@1", "xmd.core/Fil\u0435@1",
		strings.Repeat("o", maxIdentityPart+1) + "/k@1",
	} {
		_, err := ParseIdentity(text)
		require.ErrorContains(t, err, "is no identity: write origin/key@revision", "%q", text)
	}
}

func FuzzParseIdentity(f *testing.F) {
	f.Add("xmd.core/File.read@1")
	f.Add("a/b@01")
	f.Fuzz(func(t *testing.T, text string) {
		id, err := ParseIdentity(text)
		if err != nil {
			return
		}
		require.Equal(t, text, id.String())
		require.NoError(t, id.validate())
	})
}
