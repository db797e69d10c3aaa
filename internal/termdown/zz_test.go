package termdown
import ("testing";"os";"fmt";"time")
func TestZZ(t *testing.T){
 for _,f:=range []string{"/tmp/sample.md"} { b,_:=os.ReadFile(f); st:=time.Now(); s:=Render(string(b),Options{Width:72}); fmt.Println(time.Since(st)); fmt.Println(s); fmt.Println(Render(string(b),Options{Width:72,Color:true,Hyperlinks:true})) }
}
